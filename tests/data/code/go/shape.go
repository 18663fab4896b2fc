package geometry

import "fmt"

const Sides = 4

type Shape interface{ Area() float64 }
type Base struct{ name string }
type Square struct {
	Base
	side float64
}

func (b *Base) Name() string { return b.name }
func (s Square) Area() float64 { return s.side * Sides }
func NewSquare(side float64) *Square { fmt.Println(side); return &Square{side: side} }
