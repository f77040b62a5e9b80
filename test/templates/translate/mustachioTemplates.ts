import type { KnownTemplate } from "./KnownTemplate.ts"

/** Templates of Mustachio with variables of their own, which mean the same in Mustache. */
export const mustachioTemplates: ReadonlyArray<KnownTemplate> = [
  { name: "a value", source: "<p>Hello {{name}}</p>", variables: { name: "Ana" } },
  {
    name: "a value with spaces",
    source: "<p>Hello {{ name }}</p>",
    variables: { name: "Ana" },
  },
  { name: "a missing value", source: "<p>Hello {{name}}!</p>", variables: {} },
  { name: "a missing part", source: "{{a.b.c}}.", variables: { a: {} } },
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
    name: "a raw value with spaces",
    source: "<p>{{{ x }}}</p>",
    variables: { x: "<b>bold</b>" },
  },
  {
    name: "a raw value with &",
    source: "<p>{{& x}}</p>",
    variables: { x: "<b>bold</b>" },
  },
  { name: "numbers", source: "{{n}} {{z}}", variables: { n: 1.5, z: 0 } },
  {
    name: "a section of a value",
    source: "{{#name}}Hello {{.}}{{/name}}",
    variables: { name: "Ana" },
  },
  {
    name: "a section of an object",
    source: "{{#person}}{{first}} {{last}}{{/person}}",
    variables: { person: { first: "Ana", last: "Silva" } },
  },
  {
    name: "a section of a nested object",
    source: "{{#order.customer}}{{name}}{{/order.customer}}",
    variables: { order: { customer: { name: "Ana" } } },
  },
  { name: "a section of nothing", source: "{{#person}}{{first}}{{/person}}none", variables: {} },
  { name: "a section of zero", source: "{{#n}}some{{/n}}{{^n}}none{{/n}}", variables: { n: 0 } },
  { name: "a section of false", source: "{{#n}}some{{/n}}{{^n}}none{{/n}}", variables: { n: false } },
  {
    name: "a section of an empty text",
    source: "{{#n}}some{{/n}}{{^n}}none{{/n}}",
    variables: { n: "" },
  },
  { name: "a section of true", source: "{{#n}}some{{/n}}{{^n}}none{{/n}}", variables: { n: true } },
  {
    name: "an inverted section of an empty list",
    source: "{{^items}}none{{/items}}",
    variables: { items: [] },
  },
  {
    name: "an inverted section of a list",
    source: "{{^items}}none{{/items}}some",
    variables: { items: [1] },
  },
  {
    name: "a loop",
    source: "<ul>{{#each items}}<li>{{name}}</li>{{/each}}</ul>",
    variables: { items: [{ name: "a" }, { name: "b" }] },
  },
  {
    name: "a loop of texts",
    source: "{{#each items}}{{.}}, {{/each}}",
    variables: { items: ["a", "b", "c"] },
  },
  {
    name: "a loop of numbers",
    source: "{{#each items}}{{.}};{{/each}}",
    variables: { items: [1, 2, 3] },
  },
  {
    name: "a loop of an empty list",
    source: "{{#each items}}{{.}}{{/each}}none",
    variables: { items: [] },
  },
  { name: "a loop of nothing", source: "{{#each items}}{{.}}{{/each}}none", variables: {} },
  {
    name: "a loop of a nested list",
    source: "{{#each order.items}}{{name}} {{/each}}",
    variables: { order: { items: [{ name: "a" }, { name: "b" }] } },
  },
  {
    name: "a loop in a loop",
    source: "{{#each orders}}{{id}}:{{#each items}}{{name}} {{/each}};{{/each}}",
    variables: {
      orders: [
        { id: 1, items: [{ name: "a" }, { name: "b" }] },
        { id: 2, items: [{ name: "c" }] },
      ],
    },
  },
  {
    name: "a loop in a section",
    source: "{{#order}}{{id}}{{#each items}} {{name}}{{/each}}{{/order}}",
    variables: { order: { id: 7, items: [{ name: "a" }, { name: "b" }] } },
  },
  {
    name: "a section in a loop",
    source: "{{#each items}}{{#gift}}gift from {{from}}{{/gift}}{{^gift}}own{{/gift}} {{/each}}",
    variables: { items: [{ gift: { from: "Ana" } }, { x: 1 }] },
  },
  {
    name: "a section of a section",
    source: "{{#a}}{{#b}}{{c}}{{/b}}{{/a}}",
    variables: { a: { b: { c: "deep" } } },
  },
  { name: "a comment", source: "a{{! not seen }}b", variables: {} },
  { name: "a comment of lines", source: "a{{! not\nseen }}b", variables: {} },
  {
    name: "an attribute",
    source: '<a href="{{url}}">{{label}}</a>',
    variables: { url: "https://example.org/x?y", label: "Open" },
  },
  {
    name: "an attribute in a loop",
    source: '{{#each links}}<a href="{{url}}" title="{{title}}">x</a>{{/each}}',
    variables: {
      links: [
        { url: "https://a.example", title: "A" },
        { url: "https://b.example", title: "B" },
      ],
    },
  },
  { name: "text with braces", source: "a { b } c {{x}} }", variables: { x: "X" } },
  {
    name: "text with the tags of Liquid",
    source: "{% if x %}{{x}}{% endif %}",
    variables: { x: "X" },
  },
  { name: "unicode", source: "{{x}} 😀 ü", variables: { x: "Jürgen" } },
  { name: "a name with digits and _", source: "{{first_name2}}", variables: { first_name2: "Ana" } },
  {
    name: "names that Liquid keeps",
    source: "{{empty}} {{true_name}} {{size}}",
    variables: { empty: "e", true_name: "t", size: "s" },
  },
  {
    name: "a receipt",
    source:
      "<h1>Thanks, {{name}}</h1><table>{{#each receipt_details}}<tr><td>{{description}}</td><td>{{amount}}</td></tr>{{/each}}</table><p>{{total}}</p>{{#coupon}}<p>{{code}}</p>{{/coupon}}",
    variables: {
      name: "Ana",
      receipt_details: [
        { description: "A", amount: "$1" },
        { description: "B", amount: "$2" },
      ],
      total: "$3",
      coupon: { code: "X" },
    },
  },
  {
    name: "lines of many tags",
    source:
      "A\r\n  {{#a}} {{! a note }}{{#b}}  \r\nb\n{{/b}}{{/a}}\n {{! a note }} {{c}}\n\n\t{{^d}}d\n{{/d}}\n{{! at the end }} ",
    variables: { a: { b: { e: 1 } }, c: 1 },
  },
]
