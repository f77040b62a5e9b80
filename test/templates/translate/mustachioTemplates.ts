import type { KnownTemplate } from "./KnownTemplate.ts"

/** Templates of Mustachio, and what the package mustache 4.2 renders of them, where both mean the same. */
export const mustachioTemplates: ReadonlyArray<KnownTemplate> = [
  { name: "a value", source: "<p>Hello {{name}}</p>", variables: { name: "Ana" }, rendered: "<p>Hello Ana</p>" },
  {
    name: "a value with spaces",
    source: "<p>Hello {{ name }}</p>",
    variables: { name: "Ana" },
    rendered: "<p>Hello Ana</p>",
  },
  { name: "a missing value", source: "<p>Hello {{name}}!</p>", variables: {}, rendered: "<p>Hello !</p>" },
  { name: "a missing part", source: "{{a.b.c}}.", variables: { a: {} }, rendered: "." },
  {
    name: "a nested value",
    source: "{{order.customer.name}}",
    variables: { order: { customer: { name: "Ana" } } },
    rendered: "Ana",
  },
  {
    name: "an escaped value",
    source: "<p>{{x}}</p>",
    variables: { x: "<b>\"Tom\" & 'Jerry'</b>" },
    rendered: "<p>&lt;b&gt;&quot;Tom&quot; &amp; &#39;Jerry&#39;&lt;&#x2F;b&gt;</p>",
  },
  { name: "a raw value", source: "<p>{{{x}}}</p>", variables: { x: "<b>bold</b>" }, rendered: "<p><b>bold</b></p>" },
  {
    name: "a raw value with spaces",
    source: "<p>{{{ x }}}</p>",
    variables: { x: "<b>bold</b>" },
    rendered: "<p><b>bold</b></p>",
  },
  {
    name: "a raw value with &",
    source: "<p>{{& x}}</p>",
    variables: { x: "<b>bold</b>" },
    rendered: "<p><b>bold</b></p>",
  },
  { name: "numbers", source: "{{n}} {{z}}", variables: { n: 1.5, z: 0 }, rendered: "1.5 0" },
  {
    name: "a section of a value",
    source: "{{#name}}Hello {{.}}{{/name}}",
    variables: { name: "Ana" },
    rendered: "Hello Ana",
  },
  {
    name: "a section of an object",
    source: "{{#person}}{{first}} {{last}}{{/person}}",
    variables: { person: { first: "Ana", last: "Silva" } },
    rendered: "Ana Silva",
  },
  {
    name: "a section of a nested object",
    source: "{{#order.customer}}{{name}}{{/order.customer}}",
    variables: { order: { customer: { name: "Ana" } } },
    rendered: "Ana",
  },
  { name: "a section of nothing", source: "{{#person}}{{first}}{{/person}}none", variables: {}, rendered: "none" },
  { name: "a section of zero", source: "{{#n}}some{{/n}}{{^n}}none{{/n}}", variables: { n: 0 }, rendered: "none" },
  { name: "a section of false", source: "{{#n}}some{{/n}}{{^n}}none{{/n}}", variables: { n: false }, rendered: "none" },
  {
    name: "a section of an empty text",
    source: "{{#n}}some{{/n}}{{^n}}none{{/n}}",
    variables: { n: "" },
    rendered: "none",
  },
  { name: "a section of true", source: "{{#n}}some{{/n}}{{^n}}none{{/n}}", variables: { n: true }, rendered: "some" },
  {
    name: "an inverted section of an empty list",
    source: "{{^items}}none{{/items}}",
    variables: { items: [] },
    rendered: "none",
  },
  {
    name: "an inverted section of a list",
    source: "{{^items}}none{{/items}}some",
    variables: { items: [1] },
    rendered: "some",
  },
  {
    name: "a loop",
    source: "<ul>{{#each items}}<li>{{name}}</li>{{/each}}</ul>",
    variables: { items: [{ name: "a" }, { name: "b" }] },
    rendered: "<ul><li>a</li><li>b</li></ul>",
  },
  {
    name: "a loop of texts",
    source: "{{#each items}}{{.}}, {{/each}}",
    variables: { items: ["a", "b", "c"] },
    rendered: "a, b, c, ",
  },
  {
    name: "a loop of numbers",
    source: "{{#each items}}{{.}};{{/each}}",
    variables: { items: [1, 2, 3] },
    rendered: "1;2;3;",
  },
  {
    name: "a loop of an empty list",
    source: "{{#each items}}{{.}}{{/each}}none",
    variables: { items: [] },
    rendered: "none",
  },
  { name: "a loop of nothing", source: "{{#each items}}{{.}}{{/each}}none", variables: {}, rendered: "none" },
  {
    name: "a loop of a nested list",
    source: "{{#each order.items}}{{name}} {{/each}}",
    variables: { order: { items: [{ name: "a" }, { name: "b" }] } },
    rendered: "a b ",
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
    rendered: "1:a b ;2:c ;",
  },
  {
    name: "a loop in a section",
    source: "{{#order}}{{id}}{{#each items}} {{name}}{{/each}}{{/order}}",
    variables: { order: { id: 7, items: [{ name: "a" }, { name: "b" }] } },
    rendered: "7 a b",
  },
  {
    name: "a section in a loop",
    source: "{{#each items}}{{#gift}}gift from {{from}}{{/gift}}{{^gift}}own{{/gift}} {{/each}}",
    variables: { items: [{ gift: { from: "Ana" } }, { x: 1 }] },
    rendered: "gift from Ana own ",
  },
  {
    name: "a section of a section",
    source: "{{#a}}{{#b}}{{c}}{{/b}}{{/a}}",
    variables: { a: { b: { c: "deep" } } },
    rendered: "deep",
  },
  { name: "a comment", source: "a{{! not seen }}b", variables: {}, rendered: "ab" },
  { name: "a comment of lines", source: "a{{! not\nseen }}b", variables: {}, rendered: "ab" },
  {
    name: "an attribute",
    source: '<a href="{{url}}">{{label}}</a>',
    variables: { url: "https://example.org/x?y", label: "Open" },
    rendered: '<a href="https:&#x2F;&#x2F;example.org&#x2F;x?y">Open</a>',
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
    rendered:
      '<a href="https:&#x2F;&#x2F;a.example" title="A">x</a><a href="https:&#x2F;&#x2F;b.example" title="B">x</a>',
  },
  { name: "text with braces", source: "a { b } c {{x}} }", variables: { x: "X" }, rendered: "a { b } c X }" },
  {
    name: "text with the tags of Liquid",
    source: "{% if x %}{{x}}{% endif %}",
    variables: { x: "X" },
    rendered: "{% if x %}X{% endif %}",
  },
  { name: "unicode", source: "{{x}} 😀 ü", variables: { x: "Jürgen" }, rendered: "Jürgen 😀 ü" },
  { name: "a name with digits and _", source: "{{first_name2}}", variables: { first_name2: "Ana" }, rendered: "Ana" },
  {
    name: "names that Liquid keeps",
    source: "{{empty}} {{true_name}} {{size}}",
    variables: { empty: "e", true_name: "t", size: "s" },
    rendered: "e t s",
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
    rendered:
      "<h1>Thanks, Ana</h1><table><tr><td>A</td><td>$1</td></tr><tr><td>B</td><td>$2</td></tr></table><p>$3</p><p>X</p>",
  },
]
