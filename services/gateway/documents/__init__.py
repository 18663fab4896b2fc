"""Documents: values that an application stores under namespaces and keys."""
