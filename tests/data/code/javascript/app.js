const { open } = require("./util");
const util = require("./util");
export const main = async () => { open(); util.close(); };
