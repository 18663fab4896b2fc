(function_definition) @function
(declaration declarator: (function_declarator)) @function
(declaration declarator: (pointer_declarator declarator: (function_declarator))) @function
(field_declaration declarator: (function_declarator)) @function
(class_specifier body: (_)) @class
(struct_specifier body: (_)) @class
(union_specifier body: (_)) @class
(enum_specifier body: (_)) @class
(namespace_definition body: (_)) @class
(type_definition) @class
(alias_declaration) @class
(preproc_def name: (identifier) @variable)
(preproc_function_def) @function
(enumerator name: (identifier) @variable)
(translation_unit (declaration declarator: (init_declarator) @variable))
(translation_unit (declaration declarator: (identifier) @variable))
(namespace_definition body: (declaration_list (declaration declarator: (init_declarator) @variable)))
(namespace_definition body: (declaration_list (declaration declarator: (identifier) @variable)))
(call_expression function: (_) @call)
(new_expression type: (_) @call)
(preproc_include) @import
(base_class_clause [(type_identifier) (qualified_identifier) (template_type)] @inherits)
(type_identifier) @type
(declaration) @typed
(field_declaration) @typed
(parameter_declaration) @typed
(identifier) @use
