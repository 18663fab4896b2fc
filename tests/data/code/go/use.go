package geometry

func Total() float64 {
	s := NewSquare(2)
	return s.Area()
}
