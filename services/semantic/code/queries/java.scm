(class_declaration) @class
(interface_declaration) @class
(enum_declaration) @class
(record_declaration) @class
(annotation_type_declaration) @class
(method_declaration) @function
(constructor_declaration) @function
(field_declaration declarator: (variable_declarator name: (identifier) @variable))
(constant_declaration declarator: (variable_declarator name: (identifier) @variable))
(enum_constant name: (identifier) @variable)
(method_invocation) @member_call
(object_creation_expression type: (_) @call)
(import_declaration) @import
(package_declaration (_) @package)
(superclass (_) @inherits)
(super_interfaces (type_list (_) @inherits))
(extends_interfaces (type_list (_) @inherits))
(type_identifier) @type
(marker_annotation name: (_) @type)
(annotation name: (_) @type)
(formal_parameter) @typed
(local_variable_declaration) @typed
(field_declaration) @typed
(enhanced_for_statement) @typed
(identifier) @use
