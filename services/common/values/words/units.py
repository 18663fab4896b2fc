"""Units of measure and currencies for the value guard. Data alone."""

from __future__ import annotations

from typing import Final

UNITS: Final[dict[str, tuple[str, float]]] = {
    **dict.fromkeys(("ml", "millilitre", "milliliter", "millilitres", "milliliters"), ("ml", 1.0)),
    **dict.fromkeys(("cl", "centilitre", "centilitres"), ("ml", 10.0)),
    **dict.fromkeys(("l", "litre", "liter", "litres", "liters"), ("ml", 1000.0)),
    **dict.fromkeys(("gallon", "gallons"), ("gallon", 1.0)),  # British and American ones differ: not in litres
    **dict.fromkeys(("mg", "milligram", "milligrams"), ("g", 0.001)),
    **dict.fromkeys(("g", "gram", "grams", "gramme", "grammes"), ("g", 1.0)),
    **dict.fromkeys(("kg", "kilo", "kilos", "kilogram", "kilograms"), ("g", 1000.0)),
    **dict.fromkeys(("ton", "tons", "tonne", "tonnes"), ("g", 1e6)),
    **dict.fromkeys(("mm", "millimetre", "millimetres", "millimeter", "millimeters"), ("m", 0.001)),
    **dict.fromkeys(("cm", "centimetre", "centimetres", "centimeter", "centimeters"), ("m", 0.01)),
    **dict.fromkeys(("m", "metre", "metres", "meter", "meters"), ("m", 1.0)),
    **dict.fromkeys(("km", "kilometre", "kilometres", "kilometer", "kilometers"), ("m", 1000.0)),
    **dict.fromkeys(("mile", "miles"), ("m", 1609.344)),
    **dict.fromkeys(("foot", "feet"), ("m", 0.3048)),
    **dict.fromkeys(("inch", "inches"), ("m", 0.0254)),
    **dict.fromkeys(("second", "seconds", "sec", "secs"), ("s", 1.0)),
    **dict.fromkeys(("minute", "minutes", "min", "mins"), ("s", 60.0)),
    **dict.fromkeys(("hour", "hours", "hr", "hrs"), ("s", 3600.0)),
    **dict.fromkeys(("day", "days"), ("s", 86_400.0)),
    **dict.fromkeys(("week", "weeks"), ("s", 604_800.0)),
    **dict.fromkeys(("fortnight", "fortnights"), ("s", 1_209_600.0)),
    **dict.fromkeys(("month", "months"), ("s", 2_629_800.0)),
    **dict.fromkeys(("year", "years"), ("s", 31_557_600.0)),
    **dict.fromkeys(("decade", "decades"), ("s", 315_576_000.0)),
    **dict.fromkeys(("kb", "kilobyte", "kilobytes"), ("byte", 1e3)),
    **dict.fromkeys(("mb", "megabyte", "megabytes"), ("byte", 1e6)),
    **dict.fromkeys(("gb", "gigabyte", "gigabytes"), ("byte", 1e9)),
    **dict.fromkeys(("tb", "terabyte", "terabytes"), ("byte", 1e12)),
    **dict.fromkeys(("%", "percent"), ("share", 0.01)),
    **dict.fromkeys(("degree", "degrees"), ("degree", 1.0)),
    **dict.fromkeys(("yard", "yards"), ("m", 0.9144)),
    **dict.fromkeys(("kbit", "kilobit", "kilobits"), ("bit", 1e3)),
    **dict.fromkeys(("mbit", "mbits", "mbps", "megabit", "megabits"), ("bit", 1e6)),
    **dict.fromkeys(("gbit", "gbits", "gbps", "gigabit", "gigabits"), ("bit", 1e9)),
    **dict.fromkeys(("oz", "ounce", "ounces"), ("g", 28.349523)),
    **dict.fromkeys(("lb", "lbs"), ("g", 453.59237)),
    **dict.fromkeys(("kw", "kilowatt", "kilowatts"), ("watt", 1e3)),
    **dict.fromkeys(("watt", "watts"), ("watt", 1.0)),
    **dict.fromkeys(("kwh",), ("wh", 1e3)),
    **dict.fromkeys(("mph",), ("speed", 1.609344)),
    **dict.fromkeys(("kmh", "km/h", "kph"), ("speed", 1.0)),
    **dict.fromkeys(("volt", "volts"), ("volt", 1.0)),
    **dict.fromkeys(("bar", "bars"), ("bar", 1.0)),
    **dict.fromkeys(("psi",), ("bar", 0.0689476)),
    **dict.fromkeys(("acre", "acres"), ("area", 4046.856)),
    **dict.fromkeys(("hectare", "hectares"), ("area", 10_000.0)),
    **dict.fromkeys(("kcal", "calories", "calorie"), ("kcal", 1.0)),
}
"""Unit by name: its base unit and how many of them it is."""

CURRENCIES: Final[dict[str, str]] = {
    **dict.fromkeys(("$", "dollar", "dollars", "usd", "bucks"), "USD"),
    **dict.fromkeys(("€", "euro", "euros", "eur"), "EUR"),
    **dict.fromkeys(("£", "pound", "pounds", "gbp", "quid"), "GBP"),
    **dict.fromkeys(("chf", "francs", "franc"), "CHF"),
    **dict.fromkeys(("¥", "yen", "jpy"), "JPY"),
}
