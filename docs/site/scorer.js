// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The order of results: pages about a subject before names that contain the words, and both before
// records of decisions, the changelog and lists.
var Scorer = {
  score: ([page, title, anchor, description, score]) =>
    /^(adr|project|benchmarks)\/|pycuda-names/.test(page) ? score - 30 : score,
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: {0: 15, 1: 5, 2: -5},
  objPrioDefault: 0,
  title: 25,
  partialTitle: 15,
  term: 5,
  partialTerm: 2,
};
