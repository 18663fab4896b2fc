(struct_item) @class
(enum_item) @class
(union_item) @class
(trait_item) @class
(type_item) @class
(mod_item body: (_)) @class
(mod_item !body) @import
(impl_item) @implementation
(function_item) @function
(function_signature_item) @function
(macro_definition) @function
(const_item name: (identifier) @variable)
(static_item name: (identifier) @variable)
(call_expression function: (_) @call)
(macro_invocation macro: (_) @call)
(struct_expression name: (_) @call)
(use_declaration) @import
(impl_item trait: (_) @inherits)
(trait_bounds (type_identifier) @type)
(trait_item bounds: (trait_bounds [(type_identifier) (scoped_type_identifier)] @inherits))
(type_identifier) @type
(parameter) @typed
(let_declaration type: (_)) @typed
(field_declaration) @typed
(identifier) @use
