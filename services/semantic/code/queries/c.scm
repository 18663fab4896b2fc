(function_definition) @function
(declaration declarator: (function_declarator)) @function
(declaration declarator: (pointer_declarator declarator: (function_declarator))) @function
(struct_specifier body: (_)) @class
(union_specifier body: (_)) @class
(enum_specifier body: (_)) @class
(type_definition) @class
(preproc_def name: (identifier) @variable)
(preproc_function_def) @function
(enumerator name: (identifier) @variable)
(translation_unit (declaration declarator: (init_declarator) @variable))
(translation_unit (declaration declarator: (identifier) @variable))
(call_expression function: (_) @call)
(preproc_include) @import
(type_identifier) @type
(identifier) @use
