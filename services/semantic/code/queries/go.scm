(function_declaration) @function
(method_declaration) @function
(type_spec) @class
(type_alias) @class
(method_elem) @function
(source_file (var_declaration (var_spec name: (identifier) @variable)))
(source_file (var_declaration (var_spec_list (var_spec name: (identifier) @variable))))
(source_file (const_declaration (const_spec name: (identifier) @variable)))
(call_expression function: (_) @call)
(import_spec) @import
(package_clause (package_identifier) @package)
(field_declaration !name type: [(type_identifier) (qualified_type)] @inherits)
(field_declaration !name type: (pointer_type [(type_identifier) (qualified_type)] @inherits))
(field_declaration !name type: (generic_type type: [(type_identifier) (qualified_type)] @inherits))
(interface_type (type_elem . [(type_identifier) (qualified_type)] @inherits .))
(parameter_declaration name: (identifier) type: (_)) @typed
(var_spec name: (identifier) type: (_)) @typed
(field_declaration name: (field_identifier) type: (_)) @typed
(composite_literal type: [(type_identifier) (qualified_type)] @call)
(type_identifier) @type
(qualified_type) @type
(identifier) @use
