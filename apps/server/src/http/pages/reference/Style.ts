/** Style of every page of the documentation, in the colors of the dashboard (apps/dashboard/src/theme.css). They have a contrast of at least 4.5 in both themes. */
export const CSS = `
:root { color-scheme: light dark; --bg: #fbfbfa; --raised: #f4f4f2; --line: #d6d5d1; --ink: #1a1a1c; --soft: #55555a; --accent: #1f5fd0 }
@media (prefers-color-scheme: dark) {
  :root { --bg: #111113; --raised: #1c1c1f; --line: #37373d; --ink: #ededee; --soft: #b0b0b6; --accent: #7fb0ff }
}
* { box-sizing: border-box }
html { scroll-padding-top: 1rem; -webkit-text-size-adjust: 100% }
body { margin: 0; background: var(--bg); color: var(--ink); font: 15px/1.55 system-ui, sans-serif; overflow-wrap: anywhere }
a { color: var(--accent) }
a:focus-visible, button:focus-visible, input:focus-visible, summary:focus-visible, pre:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
.skip { position: absolute; left: -9999px }
.skip:focus { left: 1rem; top: 1rem; background: var(--bg); padding: .5rem }
.page { display: grid; grid-template-columns: 17rem minmax(0, 1fr); max-width: 76rem; margin: 0 auto }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.25rem 1rem; border-right: 1px solid var(--line); font-size: 14px }
nav h2 { font-size: 12px; margin: 1.1rem 0 .3rem; color: var(--soft) }
nav ul { list-style: none; margin: 0; padding: 0 }
nav a { display: block; padding: .2rem 0; color: inherit; text-decoration: none }
nav a:hover { text-decoration: underline }
input { width: 100%; font: inherit; color: inherit; background: var(--bg); border: 1px solid var(--soft); border-radius: 8px; padding: .4rem .6rem }
main { padding: 1.5rem 2rem 6rem; min-width: 0 }
h1 { font-size: 26px; margin: 0 0 .25rem }
code, pre { font: 13px/1.5 ui-monospace, "SF Mono", SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace }
p code, dd code, li code { background: var(--raised); border-radius: 4px; padding: 0 .25em }
.sample { position: relative; margin-top: .5rem; background: var(--raised); border: 1px solid var(--line); border-radius: 8px; padding-right: 4.5rem }
pre { margin: 0; padding: .75rem; overflow-x: auto }
button { font: inherit; font-size: 13px; color: inherit; background: var(--bg); border: 1px solid var(--soft); border-radius: 6px; padding: .15rem .6rem; cursor: pointer }
.sample button { position: absolute; top: .5rem; right: .5rem }
details { margin: .6rem 0 0 }
summary { cursor: pointer; color: var(--soft); font-size: 14px }
dl { margin: .25rem 0 0 }
dt { border-top: 1px solid var(--line); padding: .45rem 0 0 }
dt span { color: var(--soft); font-size: 13px }
dd { margin: 0; padding: 0 0 .45rem; color: var(--soft) }
small { color: var(--soft); font-size: 13px }
[hidden] { display: none }
@media (max-width: 48rem) {
  .page { display: block }
  nav { position: static; height: auto; max-height: 50vh; border-right: 0; border-bottom: 1px solid var(--line) }
  main { padding: 1rem 1rem 4rem }
}
.said { position: absolute; left: -9999px }
nav a[aria-current] { font-weight: 600; color: var(--accent) }
:target { background: var(--raised) }
header { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem 1rem; max-width: 76rem; margin: 0 auto; padding: .75rem 1rem; border-bottom: 1px solid var(--line) }
header p { margin: 0; font-weight: 600 }
header p a { color: inherit; text-decoration: none }
header .ways { font-weight: 400; display: flex; gap: 1rem }
header .ways a { color: var(--accent); text-decoration: underline }
header form { position: relative; flex: 1; display: flex; gap: .5rem; min-width: 14rem }
#suggestions { position: absolute; z-index: 1; top: 100%; left: 0; right: 0; margin-top: .25rem; max-height: 70vh; overflow-y: auto; background: var(--bg); border: 1px solid var(--soft); border-radius: 8px; padding: .25rem }
#suggestions a { display: block; padding: .3rem .5rem; border-radius: 6px; color: inherit; text-decoration: none }
#suggestions a[aria-selected="true"], #suggestions a:hover { background: var(--raised); color: var(--accent) }
header button { white-space: nowrap; overflow-wrap: normal }
nav summary { font-weight: 600 }
nav .group { margin: 1.1rem 0 .3rem }
nav .group summary { font-size: 12px }
@media (min-width: 48.01rem) {
  nav > details[open] > summary { display: none }
  @supports selector(::details-content) {
    nav > details::details-content { content-visibility: visible }
    nav > details > summary { display: none }
  }
}
`

/** Style of the reference: samples beside the fields, or below them where the page is narrow. */
export const REFERENCE_CSS = `
header, .page { max-width: 92rem }
.page { grid-template-columns: 14rem minmax(0, 1fr) }
nav ul ul { padding-left: .75rem; color: var(--soft); font-size: 13px }
main h2 { font-size: 20px; margin: 2.25rem 0 .25rem }
main h3 { font-size: 13px; color: var(--soft); margin: 1.25rem 0 .3rem }
main > p, main > ul, main > section > ul { max-width: 46rem }
article { border-top: 1px solid var(--line); margin: 2.5rem 0 0; padding-top: 1.5rem }
article:target { background: none }
article:target h2 { color: var(--accent) }
article h2 { margin: 0 }
article p { margin: .4rem 0 }
dt strong { font-size: 12px; font-weight: 600 }
dt code { font-weight: 600 }
.method { font-weight: 700 }
.endpoints { list-style: none; padding: 0 }
.endpoints li { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1rem; border-top: 1px solid var(--line); padding: .3rem 0 }
.status { color: var(--soft); font-size: 13px }
.tabs { position: relative; display: flex; flex-wrap: wrap; gap: 0 .15rem }
.tabs input { position: absolute; width: 1px; height: 1px; opacity: 0 }
.tabs label { padding: .2rem .55rem; border-radius: 6px; font-size: 13px; color: var(--soft); cursor: pointer }
.tabs input:checked + label { background: var(--raised); color: var(--ink); font-weight: 600 }
.tabs input:focus-visible + label { outline: 2px solid var(--accent) }
.tabs .sample { display: none; width: 100% }
${[1, 2, 3, 4, 5, 6].map((nth) => `.tabs input:nth-of-type(${nth}):checked ~ .sample:nth-of-type(${nth})`).join(", ")} { display: block }
.beside .sample pre { max-height: 34rem; overflow-y: auto }
@media (min-width: 75rem) {
  article { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 32rem); gap: 0 2rem }
  .beside { position: sticky; top: 1rem; align-self: start }
}
@media (max-width: 75rem) { .beside { margin-top: 1rem } }
`

/** Style of the other pages of the documentation. */
export const SITE_CSS = `
main { line-height: 1.6 }
main h2 { font-size: 20px; margin: 2.25rem 0 .5rem }
main h3 { font-size: 16px; margin: 1.5rem 0 .5rem }
main p, main > ul, main > ol { max-width: 46rem }
main h1 code, main h2 code, main h3 code { font-size: inherit }
li { margin: .25rem 0 }
.table { overflow-x: auto; margin: .75rem 0 }
table { border-collapse: collapse; font-size: 14px; min-width: 100% }
th, td { text-align: left; vertical-align: top; padding: .4rem .75rem .4rem 0; border-bottom: 1px solid var(--line); min-width: 6rem; overflow-wrap: break-word }
td code { background: var(--raised); border-radius: 4px; padding: 0 .25em }
@media (min-width: 87rem) {
  @supports selector(::details-content) {
    header, .page { max-width: 92rem }
    main:has(> .contents) { padding-right: 17rem }
    .contents { float: right; position: sticky; top: 1.5rem; width: 14rem; margin: 0 -15rem 0 0; max-height: calc(100vh - 3rem); overflow-y: auto; font-size: 14px }
    .contents::details-content { content-visibility: visible; height: auto }
    .contents summary { list-style: none; cursor: default; pointer-events: none; font-weight: 600 }
    .contents ul { list-style: none; margin: .25rem 0 0; padding: 0 }
  }
}
.found { padding-left: 1.25rem }
.tasks { columns: 2; padding-left: 1.25rem }
@media (max-width: 48rem) { .tasks { columns: 1 } }
@media (max-width: 48rem) {
  table, tbody, tr, td { display: block; width: 100% }
  thead { position: absolute; left: -9999px }
  tr { padding: .5rem 0; border-bottom: 1px solid var(--line) }
  td { padding: .1rem 0; border: 0 }
  td:empty { display: none }
  td:first-child { font-weight: 600 }
  td[data-head]:not(:first-child)::before { content: attr(data-head) ": "; color: var(--soft); font-size: 13px }
}
mark { background: none; color: inherit; font-weight: 650 }
.found p { margin: .1rem 0 .75rem; color: var(--soft) }
.source { color: var(--soft); font-size: 13px }
.table:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
`
