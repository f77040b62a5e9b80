/** Style of every page of the documentation, in the colors, radii and sizes of the dashboard (apps/dashboard/src/theme.css). */
export const CSS = `
:root {
  color-scheme: light dark;
  --ground: #fbfbfa; --panel: #ffffff; --sunken: #f4f4f2; --hover: #f1f1ef; --line: #e7e6e3; --line-strong: #d6d5d1;
  --ink: #1a1a1c; --ink-2: #55555a; --ink-3: #6c6c72; --accent: #1f5fd0; --accent-soft: #e8f0fe; --accent-line: #bcd3f9;
  --stamp: #e2501f; --solid: #1c1c1f; --solid-ink: #ffffff; --good: #14713f; --good-soft: #e3f4ea; --warn: #8a5200;
  --warn-soft: #fdf0d8; --bad: #b3261e; --bad-soft: #fdeae8; --violet: #6b3fc0;
  --shadow: 0 1px 2px rgb(0 0 0 / 0.04), 0 8px 24px -8px rgb(0 0 0 / 0.12);
  --sans: -apple-system, "Segoe UI", Roboto, "Noto Sans", Ubuntu, Cantarell, "Open Sans", system-ui, sans-serif;
  --mono: ui-monospace, "SF Mono", SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  --header: 3.5rem;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #111113; --panel: #161618; --sunken: #0d0d0e; --hover: #1f1f23; --line: #26262a; --line-strong: #37373d;
    --ink: #ededee; --ink-2: #b0b0b6; --ink-3: #909098; --accent: #7fb0ff; --accent-soft: #16233b; --accent-line: #2b4778;
    --stamp: #ff7a4d; --solid: #ededee; --solid-ink: #17171a; --good: #5fcf92; --good-soft: #12291d; --warn: #efb355;
    --warn-soft: #2e2210; --bad: #ff8d85; --bad-soft: #351917; --violet: #b898ff;
    --shadow: 0 1px 2px rgb(0 0 0 / 0.3), 0 12px 32px -8px rgb(0 0 0 / 0.6);
  }
}
* { box-sizing: border-box }
html { scroll-padding-top: calc(var(--header) + 1rem); -webkit-text-size-adjust: 100% }
body { margin: 0; background: var(--ground); color: var(--ink); font: .9375rem/1.6 var(--sans); overflow-wrap: anywhere; -webkit-font-smoothing: antialiased }
a { color: var(--accent); text-decoration: underline; text-decoration-color: var(--accent-line); text-underline-offset: 3px }
a:hover { text-decoration-color: currentcolor }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px }
::selection { background: var(--accent-soft) }
[hidden] { display: none }
.skip, .said { position: absolute; left: -9999px }
.skip:focus { left: 1rem; top: 1rem; z-index: 3; background: var(--panel); padding: .5rem }
header { position: sticky; top: 0; z-index: 2; background: var(--ground); border-bottom: 1px solid var(--line) }
header > div { display: flex; align-items: center; gap: .5rem 1.5rem; max-width: 92rem; min-height: var(--header); margin: 0 auto; padding: .5rem 1.25rem }
.brand { display: flex; align-items: center; gap: .5rem; font-size: 1rem; font-weight: 600; letter-spacing: -.01em; white-space: nowrap }
.brand small { border: 1px solid var(--line-strong); border-radius: 6px; padding: 0 .4rem; font-size: .75rem; font-weight: 400; letter-spacing: 0; color: var(--ink-2) }
.solid { fill: var(--solid) }
.mark { stroke: var(--solid-ink) }
.stamp { stroke: var(--stamp) }
header a, nav a, .found a, .cards a, .quiet a, .endpoints a { color: inherit; text-decoration: none }
header form { position: relative; flex: 1; max-width: 36rem; margin: 0 auto }
input[type="search"] { width: 100%; font: inherit; font-size: .875rem; color: inherit; background: var(--panel); border: 1px solid var(--line-strong); border-radius: 8px; padding: .375rem 2.25rem; appearance: none }
input::placeholder { color: var(--ink-3); opacity: 1 }
header button { position: absolute; left: 1px; top: 1px; bottom: 1px; display: grid; place-items: center; width: 2.125rem; border: 0; border-radius: 7px; padding: 0; background: none; color: var(--ink-3); cursor: pointer }
header kbd { position: absolute; right: .5rem; top: 50%; transform: translateY(-50%); border: 1px solid var(--line-strong); border-radius: 4px; padding: 0 .375rem; font: .75rem/1.4 var(--sans); color: var(--ink-3); background: var(--sunken) }
input:focus ~ kbd { visibility: hidden }
.ways { display: flex; gap: .125rem; margin: 0; font-size: .8125rem; white-space: nowrap }
.ways a { padding: .25rem .625rem; border-radius: 6px; color: var(--ink-2) }
.ways a:hover, .ways a[aria-current] { background: var(--hover); color: var(--ink) }
#results { position: absolute; top: 100%; left: 0; right: 0; margin-top: .375rem; max-height: 70vh; overflow-y: auto; background: var(--panel); border: 1px solid var(--line-strong); border-radius: 12px; box-shadow: var(--shadow); padding: .25rem }
#note { margin: 0; padding: .375rem .625rem; font-size: .8125rem; color: var(--ink-2) }
#suggestions a { display: block; padding: .375rem .625rem; border-radius: 8px; font-size: .875rem }
#suggestions small { display: block }
#suggestions a[aria-selected="true"], #suggestions a:hover { background: var(--hover) }
.page { display: grid; grid-template-columns: 15.5rem minmax(0, 1fr); max-width: 92rem; margin: 0 auto }
nav { position: sticky; top: var(--header); height: calc(100vh - var(--header)); overflow-y: auto; padding: .75rem .75rem 2rem; border-right: 1px solid var(--line); font-size: .8125rem; line-height: 1.4 }
nav h2, nav .group summary { margin: 0; padding: .25rem .5rem; font-size: .75rem; font-weight: 400; color: var(--ink-3) }
nav ul + h2, nav ul + details, nav details + h2 { margin-top: .75rem }
nav ul { list-style: none; margin: 0; padding: 0 }
nav li { margin: 1px 0 }
nav a { display: block; padding: .3125rem .5rem; border-radius: 6px; color: var(--ink-2) }
nav a:hover { background: var(--hover); color: var(--ink) }
nav a[aria-current] { background: var(--hover); color: var(--ink); font-weight: 500 }
nav ul ul { margin: .125rem 0 .375rem .5rem; padding-left: .25rem; border-left: 1px solid var(--line) }
main { min-width: 0; padding: 2rem 2.5rem 6rem }
h1 { font-size: 1.5rem; line-height: 1.3; letter-spacing: -.01em; font-weight: 600; margin: 0 0 .5rem }
h2 { font-size: 1.25rem; line-height: 1.35; letter-spacing: -.01em; font-weight: 600; margin: 2.5rem 0 .5rem }
h3 { font-size: 1rem; font-weight: 600; margin: 1.75rem 0 .5rem }
main p, main > ul, main > ol { max-width: 46rem; margin: .75rem 0 }
li { margin: .25rem 0 }
small { font-size: .8125rem; color: var(--ink-3) }
code, pre { font: .8125rem/1.6 var(--mono) }
h1 code, h2 code, h3 code { font-size: .95em }
:is(p, dd, li, td) code { background: var(--hover); border-radius: 4px; padding: .1em .3em; font-size: .85em }
:is(p, dd, li, td) a code { color: inherit }
.sample, .table, .panel { background: var(--panel); border: 1px solid var(--line); border-radius: 12px; margin: 1rem 0; overflow: hidden }
.bar { display: flex; align-items: center; justify-content: space-between; min-height: 2.25rem; padding: 0 .375rem 0 1rem; border-bottom: 1px solid var(--line); font-size: .75rem; color: var(--ink-3) }
.bar button { font: inherit; color: var(--ink-2); background: none; border: 0; border-radius: 6px; padding: .25rem .625rem; cursor: pointer }
.bar button:hover { background: var(--hover); color: var(--ink) }
pre { margin: 0; padding: .75rem 1rem; overflow-x: auto }
pre:focus-visible { outline-offset: -2px }
pre .comment { color: var(--ink-3) }
pre .string { color: var(--good) }
pre .number { color: var(--bad) }
pre .name { color: var(--warn) }
pre .keyword { color: var(--violet) }
summary { cursor: pointer; list-style: none; font-size: .8125rem; color: var(--ink-2) }
summary::-webkit-details-marker { display: none }
summary::before { content: ""; display: inline-block; width: .3125rem; height: .3125rem; margin-right: .5rem; border: solid currentcolor; border-width: 0 1.5px 1.5px 0; transform: translateY(-1px) rotate(-45deg) }
details[open] > summary::before { transform: translateY(-2px) rotate(45deg) }
:target { background: var(--accent-soft) }
@media (min-width: 48.01rem) {
  nav > details[open] > summary { display: none }
  @supports selector(::details-content) {
    nav > details::details-content { content-visibility: visible }
    nav > details > summary { display: none }
  }
}
@media (max-width: 48rem) {
  html { scroll-padding-top: 1rem }
  header { position: static }
  header > div { flex-wrap: wrap; padding: .75rem 1rem }
  .brand { flex: 1 }
  .brand small, header kbd { display: none }
  header form { order: 1; flex-basis: 100%; max-width: none }
  .ways { margin-right: -.5rem }
  .ways a { padding: .25rem .5rem }
  .page { display: block }
  nav { position: static; height: auto; max-height: 60vh; border-right: 0; border-bottom: 1px solid var(--line); padding: .25rem 1rem }
  nav > details > summary { padding: .5rem 0 }
  main { padding: 1.25rem 1rem 4rem }
}
@media (max-width: 26rem) {
  .brand span { position: absolute; left: -9999px }
}
`

/** Style of the reference: samples beside the fields, or below them where the page is narrow. */
export const REFERENCE_CSS = `
main h3 { font-size: .8125rem; color: var(--ink-2) }
article { border-top: 1px solid var(--line); margin: 2.5rem 0 0; padding-top: 2rem }
article:target { background: none }
article:target h2 { color: var(--accent) }
article h2 { margin: 0 }
article p { margin: .5rem 0 }
dl { margin: .5rem 0 0; border-bottom: 1px solid var(--line) }
dt { border-top: 1px solid var(--line); padding: .625rem 0 0 }
dt span { color: var(--ink-3); font-size: .8125rem }
dt code { font-weight: 600 }
dt strong { border-radius: 6px; padding: .05rem .4rem; font-size: .75rem; font-weight: 500; color: var(--warn); background: var(--warn-soft) }
dt strong code { font-weight: 500; font-size: 1em }
dd { margin: 0; padding: .125rem 0 .625rem; font-size: .875rem; color: var(--ink-2) }
article details { margin-top: 1rem }
.route { background: none; padding: 0 }
.method { display: inline-block; min-width: 3.5rem; border-radius: 6px; padding: 0 .4rem; margin-right: .25rem; font-weight: 600; font-size: .6875rem; text-align: center; color: var(--accent); background: var(--accent-soft) }
.post { color: var(--good); background: var(--good-soft) }
.patch, .put { color: var(--warn); background: var(--warn-soft) }
.delete { color: var(--bad); background: var(--bad-soft) }
ul.endpoints { list-style: none; padding: 0; max-width: none }
.endpoints li { display: flex; flex-wrap: wrap; align-items: center; gap: 0 1rem; margin: 0; padding: .5rem 1rem; border-top: 1px solid var(--line) }
.endpoints li:first-child { border-top: 0 }
.endpoints li a { flex: 1 1 16rem; font-weight: 500 }
.endpoints a:hover, main h2 a:hover { text-decoration: underline }
.endpoints code { flex: 1 1 20rem; background: none; padding: 0; color: var(--ink-2) }
main h2 a { color: inherit; text-decoration: none }
.status { color: var(--ink-2); font-size: .8125rem }
.tabs { position: relative; display: flex; flex-wrap: wrap; gap: 0; padding: .25rem 4rem 0 .375rem; background: var(--panel); border: 1px solid var(--line); border-radius: 12px; margin: 1rem 0 }
.tabs input { position: absolute; width: 1px; height: 1px; opacity: 0 }
.tabs label { padding: .25rem .5rem .375rem; border-bottom: 2px solid transparent; font-size: .8125rem; color: var(--ink-2); cursor: pointer }
.tabs input:checked + label { border-color: var(--ink); color: var(--ink) }
.tabs input:focus-visible + label { outline: 2px solid var(--accent) }
.tabs .sample { display: none; flex: none; width: calc(100% + 4.375rem); margin: 0 -4rem 0 -.375rem; background: none; border: 0; border-top: 1px solid var(--line); border-radius: 0 }
.tabs .bar { position: absolute; right: 0; top: 0; border: 0 }
${[1, 2, 3, 4, 5, 6].map((nth) => `.tabs input:nth-of-type(${nth}):checked ~ .sample:nth-of-type(${nth})`).join(", ")} { display: block }
.beside > :first-child { margin-top: 0 }
.beside .sample pre { max-height: 34rem; overflow-y: auto }
@media (min-width: 75rem) {
  article { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 34rem); gap: 0 2.5rem }
  .beside { position: sticky; top: calc(var(--header) + .5rem); align-self: start }
}
`

/** Style of the other pages of the documentation. */
export const SITE_CSS = `
.table { overflow-x: auto }
.table:focus-visible { outline-offset: -1px }
table { border-collapse: collapse; font-size: .875rem; line-height: 1.5; min-width: 100% }
th, td { text-align: left; vertical-align: top; padding: .5rem 1rem; border-top: 1px solid var(--line); min-width: 6rem; overflow-wrap: break-word }
th { border-top: 0; padding-block: .4375rem; font-size: .75rem; font-weight: 400; color: var(--ink-3) }
thead + tbody tr:first-child td, tbody:first-child tr:first-child td { border-top: 0 }
thead { border-bottom: 1px solid var(--line) }
.contents { margin: 1rem 0 }
.contents ul { list-style: none; margin: .25rem 0 0; padding: 0 }
.contents a { display: block; padding: .125rem 0; color: var(--ink-2); text-decoration: none }
.contents a:hover { color: var(--ink); text-decoration: underline }
@media (min-width: 80rem) {
  @supports selector(::details-content) {
    main:has(> .contents) { padding-right: 17rem }
    .contents { float: right; position: sticky; top: calc(var(--header) + 2rem); width: 13rem; margin: 0 -15rem 0 0; max-height: calc(100vh - 7rem); overflow-y: auto; font-size: .8125rem }
    .contents::details-content { content-visibility: visible; height: auto }
    .contents summary { cursor: default; pointer-events: none; color: var(--ink-3); font-size: .75rem }
    .contents summary::before { display: none }
  }
}
ul.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); gap: .75rem; max-width: none; list-style: none; padding: 0; margin: 1.5rem 0 }
.cards li { margin: 0 }
.cards a { display: block; height: 100%; padding: .875rem 1rem; background: var(--panel); border: 1px solid var(--line); border-radius: 12px; font-weight: 500 }
.cards a:hover { border-color: var(--line-strong); background: var(--hover) }
.cards small { display: block; margin-top: .125rem; font-weight: 400; color: var(--ink-2) }
dl.quiet { display: grid; grid-template-columns: minmax(9rem, 15rem) minmax(0, 1fr); margin: .75rem 0 0; padding: 0 1rem; background: var(--panel); border: 1px solid var(--line); border-radius: 12px; font-size: .875rem }
.quiet dt, .quiet dd { margin: 0; padding: .5rem 0; border-top: 1px solid var(--line) }
.quiet dt { padding-right: 1.5rem; font-weight: 500 }
.quiet dd { color: var(--ink-2) }
.quiet dt:first-child, .quiet dt:first-child + dd { border-top: 0 }
.quiet a:hover, .found a:hover { text-decoration: underline }
main > details:not(.contents) { margin-top: 2rem }
main > details:not(.contents) > summary { font-size: 1rem; font-weight: 600; color: var(--ink) }
ol.found { list-style: none; max-width: 52rem; padding: 0 1rem; background: var(--panel); border: 1px solid var(--line); border-radius: 12px }
.found:empty { display: none }
.found li { margin: 0; padding: .75rem 0; border-top: 1px solid var(--line) }
.found li:first-child { border-top: 0 }
.found a { margin-right: .375rem; font-weight: 500 }
.found p { margin: .125rem 0 0; font-size: .875rem; color: var(--ink-2) }
mark { background: none; color: var(--ink); font-weight: 600 }
.source { margin-top: 3rem; font-size: .8125rem }
@media (max-width: 48rem) {
  dl.quiet { display: block }
  .quiet dt { padding-bottom: 0 }
  .quiet dd { padding-top: 0; border-top: 0 }
  table, tbody, tr, td { display: block; width: 100% }
  thead { position: absolute; left: -9999px }
  tr { padding: .5rem 1rem; border-top: 1px solid var(--line) }
  tr:first-child { border-top: 0 }
  td { padding: .125rem 0; border: 0 }
  td:empty { display: none }
  td:first-child { font-weight: 500 }
  td[data-head]:not(:first-child)::before { content: attr(data-head) ": "; color: var(--ink-3); font-size: .8125rem }
}
`
