// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The order of results: headings outside of the reference, then pages about a subject, then names that
// contain the words; records of decisions, the changelog and lists are last.
var Scorer = {
  score: ([page, title, anchor, description, score, file, kind]) =>
    score + (kind !== "title" ? 0 : page.startsWith("reference/") ? -30 : 10) - (/^(adr|project|benchmarks)\/|pycuda-names/.test(page) ? 30 : 0),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: {0: 15, 1: 5, 2: -5},
  objPrioDefault: 0,
  title: 25,
  partialTitle: 15,
  term: 5,
  partialTerm: 2,
};
