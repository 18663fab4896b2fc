(class_declaration) @class
(class name: (_)) @class
(function_declaration) @function
(generator_function_declaration) @function
(method_definition) @function
(variable_declarator name: (identifier) value: [(arrow_function) (function_expression)]) @function
(assignment_expression left: (member_expression) right: [(arrow_function) (function_expression)]) @assigned
(pair key: (property_identifier) value: [(arrow_function) (function_expression)]) @pair
(field_definition property: (_) value: [(arrow_function) (function_expression)]) @pair
(program (lexical_declaration (variable_declarator name: (identifier) @variable)))
(program (variable_declaration (variable_declarator name: (identifier) @variable)))
(program (export_statement (lexical_declaration (variable_declarator name: (identifier) @variable))))
(program (export_statement (variable_declaration (variable_declarator name: (identifier) @variable))))
(class_body (field_definition property: (_) @variable))
(call_expression function: (_) @call)
(new_expression constructor: (_) @call)
(jsx_opening_element name: (_) @call)
(jsx_self_closing_element name: (_) @call)
(import_statement) @import
(export_statement source: (_)) @import
(class_heritage (_) @inherits)
(identifier) @use
