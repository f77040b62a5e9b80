import type { KnownTemplate } from "./KnownTemplate.ts"

/** Templates of Handlebars with variables of their own. */
export const handlebarsTemplates: ReadonlyArray<KnownTemplate> = [
  { name: "a value", source: "<p>Hello {{name}}</p>", variables: { name: "Ana" } },
  { name: "a missing value", source: "<p>Hello {{name}}!</p>", variables: {} },
  {
    name: "a nested value",
    source: "{{order.customer.name}}",
    variables: { order: { customer: { name: "Ana" } } },
  },
  {
    name: "an escaped value",
    source: "<p>{{x}}</p>",
    variables: { x: "<b>\"Tom\" & 'Jerry'</b>" },
  },
  { name: "a raw value", source: "<p>{{{x}}}</p>", variables: { x: "<b>bold</b>" } },
  {
    name: "a raw value with &",
    source: "<p>{{&x}}</p>",
    variables: { x: "<b>bold</b>" },
  },
  {
    name: "numbers and booleans",
    source: "{{n}} {{f}} {{t}} {{z}}",
    variables: { n: 1.5, f: false, t: true, z: 0 },
  },
  {
    name: "an item by number",
    source: "{{items.[0].name}} {{items.1.name}}",
    variables: { items: [{ name: "a" }, { name: "b" }] },
  },
  {
    name: "a name in brackets",
    source: "{{[first name]}} {{user.[last name]}}",
    variables: { "first name": "Ana", user: { "last name": "Silva" } },
  },
  { name: "an if", source: "{{#if a}}yes{{/if}}", variables: { a: true } },
  { name: "an if of zero", source: "{{#if a}}yes{{else}}no{{/if}}", variables: { a: 0 } },
  { name: "an if of an empty text", source: "{{#if a}}yes{{else}}no{{/if}}", variables: { a: "" } },
  { name: "an if of an empty list", source: "{{#if a}}yes{{else}}no{{/if}}", variables: { a: [] } },
  { name: "an if of a space", source: "{{#if a}}yes{{else}}no{{/if}}", variables: { a: " " } },
  { name: "an else if", source: "{{#if a}}A{{else if b}}B{{else}}C{{/if}}", variables: { b: "x" } },
  { name: "an unless", source: "{{#unless a}}no{{else}}yes{{/unless}}", variables: { a: "x" } },
  { name: "an inverted block", source: "{{^a}}none{{/a}}", variables: { a: [] } },
  { name: "an inverted if", source: "{{^if a}}none{{/if}}", variables: {} },
  {
    name: "a loop",
    source: "<ul>{{#each items}}<li>{{name}} {{@index}}</li>{{/each}}</ul>",
    variables: { items: [{ name: "a" }, { name: "b" }] },
  },
  {
    name: "a loop of texts",
    source: "{{#each items}}{{this}}{{#unless @last}}, {{/unless}}{{/each}}",
    variables: { items: ["a", "b", "c"] },
  },
  {
    name: "first and last",
    source: "{{#each items}}{{#if @first}}[{{/if}}{{.}}{{#if @last}}]{{/if}}{{/each}}",
    variables: { items: ["a", "b", "c"] },
  },
  {
    name: "a loop of nothing",
    source: "{{#each items}}{{this}}{{else}}empty{{/each}}",
    variables: { items: [] },
  },
  {
    name: "a loop over an object",
    source: "{{#each sizes}}{{@key}}={{this}};{{/each}}",
    variables: { sizes: { s: 1, m: 2 } },
  },
  {
    name: "a loop in a loop",
    source: "{{#each orders}}{{id}}:{{#each items}}{{name}}/{{../id}}/{{@root.shop}} {{/each}};{{/each}}",
    variables: {
      shop: "Acme",
      orders: [
        { id: 1, items: [{ name: "a" }, { name: "b" }] },
        { id: 2, items: [{ name: "c" }] },
      ],
    },
  },
  {
    name: "names of a loop",
    source: "{{#each items as |thing nr|}}{{nr}} {{thing.name}} {{/each}}",
    variables: { items: [{ name: "a" }, { name: "b" }] },
  },
  {
    name: "the outer context in an if",
    source: "{{#each items}}{{#if name}}{{name}} of {{../shop}}{{/if}} {{/each}}",
    variables: { shop: "Acme", items: [{ name: "a" }, {}] },
  },
  {
    name: "a with",
    source: "{{#with user}}{{name}} of {{../shop}}{{/with}}",
    variables: { user: { name: "Ana" }, shop: "Acme" },
  },
  {
    name: "a with of nothing",
    source: "{{#with user}}{{name}}{{else}}nobody at {{shop}}{{/with}}",
    variables: { shop: "Acme" },
  },
  { name: "a length", source: "{{items.length}} {{length items}}", variables: { items: [1, 2, 3] } },
  {
    name: "equals",
    source: "{{#equals a b}}same{{else}}other{{/equals}}",
    variables: { a: "x", b: "x" },
  },
  {
    name: "not equals",
    source: '{{#notEquals a "x"}}other{{else}}same{{/notEquals}}',
    variables: { a: "x" },
  },
  {
    name: "a comparison",
    source: "{{#greaterThan n 5}}many{{else}}{{#lessThan n 2}}one{{else}}few{{/lessThan}}{{/greaterThan}}",
    variables: { n: 3 },
  },
  {
    name: "a comparison of a length",
    source: "{{#greaterThan (length items) 1}}several{{/greaterThan}}",
    variables: { items: [1, 2] },
  },
  { name: "and", source: "{{#and a b}}both{{else}}not both{{/and}}", variables: { a: 1, b: 0 } },
  { name: "or", source: "{{#or a b c}}one{{else}}none{{/or}}", variables: { a: "", b: 0, c: [1] } },
  {
    name: "an insert",
    source: '{{insert name "default=Customer"}} {{insert other}}',
    variables: { other: "x" },
  },
  {
    name: "lines of blocks",
    source: "<ul>\n  {{#each items}}\n  <li>{{this}}</li>\n  {{/each}}\n</ul>\n{{! a comment }}\n<p>end</p>\n",
    variables: { items: ["a", "b"] },
  },
  {
    name: "lines of branches",
    source: "{{#if a}}\n  A\n{{else}}\n  B\n{{/if}}\nend",
    variables: {},
  },
  {
    name: "white space that is cut",
    source: "a  {{~#if b~}}  b  {{~else~}} c {{~/if~}}  d {{~x~}} e",
    variables: { b: 1, x: "x" },
  },
  {
    name: "braces of other languages",
    source: "{% if x %}\\{{name}} a{b}c {{name}} {{!-- {{name}} --}}{{{name}}}",
    variables: { name: "Ana" },
  },
  { name: "a lookup", source: "{{lookup names index}}", variables: { names: ["a", "b"], index: 1 } },
  {
    name: "a table of an order",
    source:
      "<table>\n{{#each order.items}}\n<tr>\n<td>{{title}}</td>\n{{#if discount}}\n<td>-{{discount}}%</td>\n{{else if gift}}\n<td>gift</td>\n{{else}}\n<td>{{price}}</td>\n{{/if}}\n</tr>\n{{/each}}\n</table>\n",
    variables: {
      order: {
        items: [
          { title: "A", discount: 5 },
          { title: "B", gift: true },
          { title: "C & D", price: 9.5 },
        ],
      },
    },
  },
  {
    name: "the white space that is left before the end of a chain",
    source: "A\n  {{#if a}}\n  a\n  {{else if b}}\n  b\n  {{/if}}\nB",
    variables: { b: 1 },
  },
  {
    name: "the line that is left after the end of a chain with a branch in one line",
    source: "A\n{{#if a}}\na\n{{else if b}}b{{else}}\n  c\n  {{/if}}\nB",
    variables: {},
  },
  {
    name: "lines of tags that cut white space",
    source: "A\n\n  {{~#if a}}\n  a\n  {{^~}}\n  b\n  {{/if}}\n\nB {{~! a note ~}} C\n\u00a0 {{! another }}  ",
    variables: { a: 1 },
  },
  {
    name: "lines of blocks within a line",
    source: "A\r\n{{#if a}} {{#if b}}\r\nb\r\n{{/if}}{{/if}}\r\n  {{! a note }}\r\nB",
    variables: { a: 1, b: 1 },
  },
]
