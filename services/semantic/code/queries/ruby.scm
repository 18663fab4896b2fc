(class) @class
(module) @class
(method) @function
(singleton_method) @function
(program (assignment left: (constant) @variable))
(body_statement (assignment left: (constant) @variable))
(program (assignment left: (global_variable) @variable))
(alias) @function
(call) @member_call
(superclass (_) @inherits)
(constant) @type
(identifier) @use
