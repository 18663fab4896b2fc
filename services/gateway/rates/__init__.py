"""How gateways share the rates of tenants."""
