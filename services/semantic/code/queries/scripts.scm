[(function_declaration) (generator_function_declaration) (function_expression) (generator_function) (arrow_function)
 (method_definition)] @closure
[(statement_block) (for_in_statement) (for_statement) (catch_clause)] @block
(variable_declarator) @local
(return_statement (_)) @return
(assignment_expression left: (member_expression object: (this))) @own
(export_statement (export_clause)) @export
(export_statement "default") @export
(assignment_expression left: (member_expression object: (identifier)) right: (identifier)) @common
(program (lexical_declaration (variable_declarator value: (object (pair) @entry))))
(program (export_statement (lexical_declaration (variable_declarator value: (object (pair) @entry)))))
