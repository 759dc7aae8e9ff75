#!/usr/bin/env node
// The verbs. Guarantees: this file alone reads argv and the environment; every verb loads its own code when it is asked
// for. Must not know: how any verb does its work.
console.log('atomic-lsp', process.env.ATOMIC_LSP_VERSION);
