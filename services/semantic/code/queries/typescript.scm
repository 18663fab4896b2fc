(class_declaration) @class
(abstract_class_declaration) @class
(interface_declaration) @class
(enum_declaration) @class
(type_alias_declaration) @class
(internal_module) @class
(function_declaration) @function
(generator_function_declaration) @function
(function_signature) @function
(method_definition) @function
(method_signature) @function
(abstract_method_signature) @function
(variable_declarator name: (identifier) value: [(arrow_function) (function_expression)]) @function
(assignment_expression left: (member_expression) right: [(arrow_function) (function_expression)]) @assigned
(pair key: (property_identifier) value: [(arrow_function) (function_expression)]) @pair
(public_field_definition name: (_) value: [(arrow_function) (function_expression)]) @function
(program (lexical_declaration (variable_declarator name: (identifier) @variable)))
(program (variable_declaration (variable_declarator name: (identifier) @variable)))
(program (export_statement (lexical_declaration (variable_declarator name: (identifier) @variable))))
(program (export_statement (variable_declaration (variable_declarator name: (identifier) @variable))))
(class_body (public_field_definition name: (_) @variable))
(call_expression function: (_) @call)
(new_expression constructor: (_) @call)
(import_statement) @import
(export_statement source: (_)) @import
(extends_clause value: (_) @inherits)
(implements_clause (_) @inherits)
(extends_type_clause type: (_) @inherits)
(type_identifier) @type
(nested_type_identifier) @type
(identifier) @use
[(function_signature) (method_signature) (abstract_method_signature)] @closure
(interface_body (property_signature) @member)
(type_alias_declaration value: (object_type (property_signature) @member))
(intersection_type (object_type (property_signature) @member))
(interface_body (property_signature type: (type_annotation (function_type))) @function)
(type_alias_declaration value: (object_type (property_signature type: (type_annotation (function_type))) @function))
(required_parameter (accessibility_modifier) pattern: (identifier) @variable)
(required_parameter "readonly" pattern: (identifier) @variable)
(optional_parameter (accessibility_modifier) pattern: (identifier) @variable)
(optional_parameter "readonly" pattern: (identifier) @variable)
(export_statement "=") @export
