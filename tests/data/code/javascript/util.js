const LIMIT = 3;
function* numbers() { yield LIMIT; }
class Box extends Array { size() { return numbers(); } }
const open = function () { return new Box(); };
exports.close = function () { return open(); };
module.exports = { Box, open, later: () => open() };
