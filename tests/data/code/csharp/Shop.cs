using System;
namespace Shop {
  public interface IPriced { decimal Price(); }
  public enum Size { Small }
  public struct Money { public int Cents; }
  public record Customer(string Name);
  public class Item : IPriced {
    private readonly Money money;
    public string Name { get; set; }
    public Item(string name) { Name = name; }
    public decimal Price() { return Round(money.Cents); }
    private static decimal Round(int cents) => Math.Abs(cents);
  }
}
