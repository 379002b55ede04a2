// Runs the extension with an editor that only says what it is asked.
//   extension.js EXTENSION
"use strict";

const Module = require("module");
const load = Module._load;
let fails = false;
const modules = {
  vscode: {
    workspace: { getConfiguration: (name) => ({ get: (key) => `${name}.${key}` }) },
    window: { showErrorMessage: (text) => console.log("shown:", text) },
  },
  "vscode-languageclient/node": {
    LanguageClient: class {
      constructor(id, name, server, client) {
        console.log("client:", id, JSON.stringify(server), JSON.stringify(client));
      }
      async start() {
        if (fails) throw new Error("not found");
        console.log("started");
      }
      async stop() {
        console.log("stopped");
      }
    },
  },
};
Module._load = (name, ...rest) => modules[name] ?? load(name, ...rest);

(async () => {
  const extension = require(process.argv[2]);
  await extension.deactivate();
  await extension.activate();
  await extension.deactivate();
  fails = true;
  await extension.activate();
})();
