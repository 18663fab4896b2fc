pub trait Area { fn area(&self) -> f64; }
pub struct Circle { pub radius: f64 }
pub enum Kind { Round, Flat }
impl Area for Circle { fn area(&self) -> f64 { self.radius } }
impl Circle { pub fn new() -> Self { Circle { radius: unit() } } }
pub fn unit() -> f64 { 1.0 }
