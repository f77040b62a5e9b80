import type { KnownTemplate } from "./KnownTemplate.ts"

/** Templates of Handlebars, and what its package 4.7 with the helpers of SendGrid renders of them. */
export const handlebarsTemplates: ReadonlyArray<KnownTemplate> = [
  { name: "a value", source: "<p>Hello {{name}}</p>", variables: { name: "Ana" }, rendered: "<p>Hello Ana</p>" },
  { name: "a missing value", source: "<p>Hello {{name}}!</p>", variables: {}, rendered: "<p>Hello !</p>" },
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
    rendered: "<p>&lt;b&gt;&quot;Tom&quot; &amp; &#x27;Jerry&#x27;&lt;/b&gt;</p>",
  },
  { name: "a raw value", source: "<p>{{{x}}}</p>", variables: { x: "<b>bold</b>" }, rendered: "<p><b>bold</b></p>" },
  {
    name: "a raw value with &",
    source: "<p>{{&x}}</p>",
    variables: { x: "<b>bold</b>" },
    rendered: "<p><b>bold</b></p>",
  },
  {
    name: "numbers and booleans",
    source: "{{n}} {{f}} {{t}} {{z}}",
    variables: { n: 1.5, f: false, t: true, z: 0 },
    rendered: "1.5 false true 0",
  },
  {
    name: "an item by number",
    source: "{{items.[0].name}} {{items.1.name}}",
    variables: { items: [{ name: "a" }, { name: "b" }] },
    rendered: "a b",
  },
  {
    name: "a name in brackets",
    source: "{{[first name]}} {{user.[last name]}}",
    variables: { "first name": "Ana", user: { "last name": "Silva" } },
    rendered: "Ana Silva",
  },
  { name: "an if", source: "{{#if a}}yes{{/if}}", variables: { a: true }, rendered: "yes" },
  { name: "an if of zero", source: "{{#if a}}yes{{else}}no{{/if}}", variables: { a: 0 }, rendered: "no" },
  { name: "an if of an empty text", source: "{{#if a}}yes{{else}}no{{/if}}", variables: { a: "" }, rendered: "no" },
  { name: "an if of an empty list", source: "{{#if a}}yes{{else}}no{{/if}}", variables: { a: [] }, rendered: "no" },
  { name: "an if of a space", source: "{{#if a}}yes{{else}}no{{/if}}", variables: { a: " " }, rendered: "yes" },
  { name: "an else if", source: "{{#if a}}A{{else if b}}B{{else}}C{{/if}}", variables: { b: "x" }, rendered: "B" },
  { name: "an unless", source: "{{#unless a}}no{{else}}yes{{/unless}}", variables: { a: "x" }, rendered: "yes" },
  { name: "an inverted block", source: "{{^a}}none{{/a}}", variables: { a: [] }, rendered: "none" },
  { name: "an inverted if", source: "{{^if a}}none{{/if}}", variables: {}, rendered: "none" },
  {
    name: "a loop",
    source: "<ul>{{#each items}}<li>{{name}} {{@index}}</li>{{/each}}</ul>",
    variables: { items: [{ name: "a" }, { name: "b" }] },
    rendered: "<ul><li>a 0</li><li>b 1</li></ul>",
  },
  {
    name: "a loop of texts",
    source: "{{#each items}}{{this}}{{#unless @last}}, {{/unless}}{{/each}}",
    variables: { items: ["a", "b", "c"] },
    rendered: "a, b, c",
  },
  {
    name: "first and last",
    source: "{{#each items}}{{#if @first}}[{{/if}}{{.}}{{#if @last}}]{{/if}}{{/each}}",
    variables: { items: ["a", "b", "c"] },
    rendered: "[abc]",
  },
  {
    name: "a loop of nothing",
    source: "{{#each items}}{{this}}{{else}}empty{{/each}}",
    variables: { items: [] },
    rendered: "empty",
  },
  {
    name: "a loop over an object",
    source: "{{#each sizes}}{{@key}}={{this}};{{/each}}",
    variables: { sizes: { s: 1, m: 2 } },
    rendered: "s=1;m=2;",
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
    rendered: "1:a/1/Acme b/1/Acme ;2:c/2/Acme ;",
  },
  {
    name: "names of a loop",
    source: "{{#each items as |thing nr|}}{{nr}} {{thing.name}} {{/each}}",
    variables: { items: [{ name: "a" }, { name: "b" }] },
    rendered: "0 a 1 b ",
  },
  {
    name: "the outer context in an if",
    source: "{{#each items}}{{#if name}}{{name}} of {{../shop}}{{/if}} {{/each}}",
    variables: { shop: "Acme", items: [{ name: "a" }, {}] },
    rendered: "a of Acme  ",
  },
  {
    name: "a with",
    source: "{{#with user}}{{name}} of {{../shop}}{{/with}}",
    variables: { user: { name: "Ana" }, shop: "Acme" },
    rendered: "Ana of Acme",
  },
  {
    name: "a with of nothing",
    source: "{{#with user}}{{name}}{{else}}nobody at {{shop}}{{/with}}",
    variables: { shop: "Acme" },
    rendered: "nobody at Acme",
  },
  { name: "a length", source: "{{items.length}} {{length items}}", variables: { items: [1, 2, 3] }, rendered: "3 3" },
  {
    name: "equals",
    source: "{{#equals a b}}same{{else}}other{{/equals}}",
    variables: { a: "x", b: "x" },
    rendered: "same",
  },
  {
    name: "not equals",
    source: '{{#notEquals a "x"}}other{{else}}same{{/notEquals}}',
    variables: { a: "x" },
    rendered: "same",
  },
  {
    name: "a comparison",
    source: "{{#greaterThan n 5}}many{{else}}{{#lessThan n 2}}one{{else}}few{{/lessThan}}{{/greaterThan}}",
    variables: { n: 3 },
    rendered: "few",
  },
  {
    name: "a comparison of a length",
    source: "{{#greaterThan (length items) 1}}several{{/greaterThan}}",
    variables: { items: [1, 2] },
    rendered: "several",
  },
  { name: "and", source: "{{#and a b}}both{{else}}not both{{/and}}", variables: { a: 1, b: 0 }, rendered: "not both" },
  { name: "or", source: "{{#or a b c}}one{{else}}none{{/or}}", variables: { a: "", b: 0, c: [1] }, rendered: "one" },
  {
    name: "an insert",
    source: '{{insert name "default=Customer"}} {{insert other}}',
    variables: { other: "x" },
    rendered: "Customer x",
  },
  {
    name: "lines of blocks",
    source: "<ul>\n  {{#each items}}\n  <li>{{this}}</li>\n  {{/each}}\n</ul>\n{{! a comment }}\n<p>end</p>\n",
    variables: { items: ["a", "b"] },
    rendered: "<ul>\n  <li>a</li>\n  <li>b</li>\n</ul>\n<p>end</p>\n",
  },
  {
    name: "lines of branches",
    source: "{{#if a}}\n  A\n{{else}}\n  B\n{{/if}}\nend",
    variables: {},
    rendered: "  B\nend",
  },
  {
    name: "white space that is cut",
    source: "a  {{~#if b~}}  b  {{~else~}} c {{~/if~}}  d {{~x~}} e",
    variables: { b: 1, x: "x" },
    rendered: "abdxe",
  },
  {
    name: "braces of other languages",
    source: "{% if x %}\\{{name}} a{b}c {{name}} {{!-- {{name}} --}}{{{name}}}",
    variables: { name: "Ana" },
    rendered: "{% if x %}{{name}} a{b}c Ana Ana",
  },
  { name: "a lookup", source: "{{lookup names index}}", variables: { names: ["a", "b"], index: 1 }, rendered: "b" },
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
    rendered:
      "<table>\n<tr>\n<td>A</td>\n<td>-5%</td>\n</tr>\n<tr>\n<td>B</td>\n<td>gift</td>\n</tr>\n<tr>\n<td>C &amp; D</td>\n<td>9.5</td>\n</tr>\n</table>\n",
  },
]
