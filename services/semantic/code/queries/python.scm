(class_definition) @class
(function_definition) @function
(module (expression_statement (assignment left: (identifier) @variable)))
(module (expression_statement (assignment left: (pattern_list (identifier) @variable))))
(class_definition body: (block (expression_statement (assignment left: (identifier) @variable))))
(module (type_alias_statement left: (type (identifier) @variable)))
(class_definition body: (block (type_alias_statement left: (type (identifier) @variable))))
(call function: (_) @call)
(decorator [(identifier) (attribute)] @call)
(import_statement) @import
(import_from_statement) @import
(future_import_statement) @import
(class_definition superclasses: (argument_list [(identifier) (attribute)] @inherits))
(class_definition superclasses: (argument_list (subscript value: [(identifier) (attribute)] @inherits)))
(type [(identifier) (attribute)] @type)
(type (generic_type (identifier) @type))
(type (binary_operator [(identifier) (attribute)] @type))
(identifier) @use
