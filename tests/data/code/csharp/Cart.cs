using Shop;
namespace Market;
class Cart {
  Item Add() { var item = new Item("tea"); item.Price(); return item; }
}
