// Starts the language server for .ccn files, and ends it with the editor.
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function activate() {
  const command = vscode.workspace.getConfiguration("ccn").get("server.path");
  client = new LanguageClient(
    "ccn",
    "ccn",
    { command },
    { documentSelector: [{ language: "ccn" }] },
  );
  return client.start().catch((error) => {
    vscode.window.showErrorMessage(
      `cannot start '${command}', which the setting ccn.server.path names: ${error.message}`,
    );
  });
}

function deactivate() {
  return client?.stop();
}

module.exports = { activate, deactivate };
