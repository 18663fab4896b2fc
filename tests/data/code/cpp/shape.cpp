#include "shape.hpp"
using Number = double;
template <typename T> T largest(T a, T b) { return a > b ? a : b; }
double geo::Shape::twice() const { return 2 * area(); }
int main() { geo::Square *s = new geo::Square(); return largest(s->twice(), 1.0); }
