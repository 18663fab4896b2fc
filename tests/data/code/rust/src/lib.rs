mod shapes;
use crate::shapes::{Circle, Area};

pub const SCALE: f64 = 2.0;
macro_rules! square { ($x:expr) => { $x * $x }; }
pub fn total(c: &Circle) -> f64 { c.area() * SCALE + shapes::unit() + square!(2.0) }
