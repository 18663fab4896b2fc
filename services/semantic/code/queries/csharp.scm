(class_declaration) @class
(interface_declaration) @class
(struct_declaration) @class
(enum_declaration) @class
(record_declaration) @class
(delegate_declaration) @class
(method_declaration) @function
(constructor_declaration) @function
(local_function_statement) @function
(property_declaration name: (identifier) @variable)
(field_declaration (variable_declaration (variable_declarator name: (identifier) @variable)))
(enum_member_declaration name: (identifier) @variable)
(invocation_expression function: (_) @call)
(object_creation_expression type: (_) @call)
(using_directive) @import
(namespace_declaration name: (_) @package)
(file_scoped_namespace_declaration name: (_) @package)
(base_list [(identifier) (qualified_name) (generic_name)] @inherits)
(base_list (primary_constructor_base_type type: (_) @inherits))
(variable_declaration type: [(identifier) (generic_name) (qualified_name)] @type)
(parameter type: [(identifier) (generic_name) (qualified_name)] @type)
(method_declaration returns: [(identifier) (generic_name) (qualified_name)] @type)
(property_declaration type: [(identifier) (generic_name) (qualified_name)] @type)
(attribute name: (_) @type)
(event_declaration name: (identifier) @variable)
(event_field_declaration (variable_declaration (variable_declarator name: (identifier) @variable)))
(indexer_declaration) @function
(operator_declaration) @function
(parameter type: (_) name: (identifier)) @typed
(variable_declaration) @typed
(property_declaration) @typed
(identifier) @use
