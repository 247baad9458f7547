// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// A list of versions in the sidebar, where the site is in a folder of its version beside a file
// versions.json, ["0.2.0", "0.1.0"], and other folders that it names (docs/release.md).
document.addEventListener("DOMContentLoaded", async () => {
  const root = new URL(document.documentElement.dataset.content_root, location.href);
  if (!root.protocol.startsWith("http")) return;
  const answer = await fetch(new URL("../versions.json", root)).catch(() => null);
  if (!answer || !answer.ok) return;
  const own = root.pathname.split("/").at(-2);
  const select = document.createElement("select");
  select.setAttribute("aria-label", "version");
  for (const version of await answer.json())
    select.add(new Option(version, version, false, version === own));
  select.addEventListener("change", async () => {
    const page = location.href.slice(root.href.length);
    const there = new URL(`../${select.value}/${page}`, root);
    const found = await fetch(there, {method: "HEAD"}).catch(() => null);
    location.href = found && found.ok ? there : new URL(`../${select.value}/index.html`, root);
  });
  const place = document.createElement("div");
  place.className = "versions";
  place.append(select);
  document.querySelector(".sidebar-brand").after(place);
});
