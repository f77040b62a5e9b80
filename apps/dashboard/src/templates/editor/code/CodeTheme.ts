import { HighlightStyle } from "@codemirror/language"
import { EditorView } from "@codemirror/view"
import { tags } from "@lezer/highlight"

/** Colors of the dashboard, which a shadow tree inherits as properties. */
export const theme = EditorView.theme({
  "&": { color: "var(--color-ink)", backgroundColor: "var(--color-raised)", fontSize: "0.75rem", height: "100%" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--font-mono, ui-monospace, monospace)", lineHeight: "1.6", overflow: "auto" },
  ".cm-content": { caretColor: "var(--color-ink)", padding: "0.5rem 0" },
  ".cm-cursor": { borderLeftColor: "var(--color-ink)" },
  ".cm-gutters": {
    backgroundColor: "var(--color-sunken)",
    color: "var(--color-ink-3)",
    borderRight: "1px solid var(--color-line)",
  },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "transparent" },
  "&.cm-focused .cm-activeLine, &.cm-focused .cm-activeLineGutter": {
    backgroundColor: "color-mix(in srgb, var(--color-hover) 60%, transparent)",
  },
  ".cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": {
    backgroundColor: "var(--color-accent-soft)",
  },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": { backgroundColor: "var(--color-hover)", color: "inherit" },
  ".cm-panels, .cm-tooltip": {
    backgroundColor: "var(--color-raised)",
    color: "var(--color-ink)",
    border: "1px solid var(--color-line-strong)",
    fontFamily: "var(--font-sans, system-ui)",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--font-mono, ui-monospace, monospace)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "0.25rem 0.5rem", display: "flex", gap: "1rem" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": {
    backgroundColor: "var(--color-accent-soft)",
    color: "var(--color-ink)",
  },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "600" },
  ".cm-completionDetail": { marginLeft: "auto", fontStyle: "normal", color: "var(--color-ink-3)" },
  ".cm-panel.cm-search label": { fontSize: "0.75rem" },
  ".cm-textfield": {
    backgroundColor: "var(--color-raised)",
    color: "var(--color-ink)",
    borderColor: "var(--color-line-strong)",
  },
  ".cm-button": {
    backgroundImage: "none",
    backgroundColor: "var(--color-hover)",
    borderColor: "var(--color-line-strong)",
  },
  ".cm-diagnostic": { padding: "0.375rem 0.5rem", borderLeft: "3px solid var(--color-bad)" },
  ".cm-lintRange-error": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--color-bad)",
    textDecorationSkipInk: "none",
  },
  ".cm-lint-marker-error": { content: "none" },
  ".cm-lint-marker-error::before": { content: '"●"', color: "var(--color-bad)" },
  ".cm-gutter-lint .cm-gutterElement": { padding: "0 0.25rem" },
})

export const highlighting = HighlightStyle.define([
  { tag: [tags.keyword, tags.controlKeyword, tags.operatorKeyword], color: "var(--color-violet)" },
  { tag: [tags.tagName, tags.typeName], color: "var(--color-accent)" },
  { tag: [tags.attributeName, tags.propertyName, tags.variableName], color: "var(--color-warn)" },
  { tag: [tags.string, tags.attributeValue], color: "var(--color-good)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--color-bad)" },
  { tag: [tags.comment, tags.meta, tags.documentMeta], color: "var(--color-ink-3)" },
  { tag: [tags.punctuation, tags.bracket, tags.angleBracket, tags.brace, tags.operator], color: "var(--color-ink-2)" },
])
