"""The console in the browser: static files that call the gateway's own HTTP endpoints."""
