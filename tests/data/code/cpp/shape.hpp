#pragma once
namespace geo {
class Shape {
 public:
  virtual double area() const = 0;
  double twice() const;
};
struct Square : public Shape {
  double side;
  double area() const override { return side; }
};
}
