/** Templates as customers of Postmark write them. */
export const POSTMARK: ReadonlyArray<string> = [
  "<p>Hi {{name}}</p>",
  "<p>Hi {{ name }} of {{company.name}}</p>",
  "<p>{{company.address.city}}, {{company.address.zip}}</p>",
  "<div>{{{note}}}</div>",
  "<div>{{{ note }}} {{& note}}</div>",
  "<p>{{unknown}}{{company.unknown}}</p>",
  '<a href="{{url}}">{{ company.name }}</a>',
  '<td style="padding: 4px">{{total}}</td>',
  "<p>{{count}} of {{zero}} is {{yes}} and {{no}}</p>",
  "{{#company}}<p>{{name}}</p>{{/company}}",
  "{{#company}}{{#address}}{{city}} {{zip}}{{/address}}{{/company}}",
  "{{#company}}{{address.city}} for {{../plan}}{{/company}}",
  "{{#yes}}<p>Paid</p>{{/yes}}",
  "{{#no}}<p>Paid</p>{{/no}}{{^no}}<p>Open</p>{{/no}}",
  "{{#unknown}}<p>Known</p>{{/unknown}}{{^unknown}}<p>Unknown</p>{{/unknown}}",
  "{{^yes}}a{{/yes}}{{^none}}b{{/none}}{{^nothing}}c{{/nothing}}{{^zero}}d{{/zero}}",
  "<ul>{{#each items}}<li>{{title}}: {{price}}</li>{{/each}}</ul>",
  "<ul>\n  {{#each items}}\n  <li>{{title}}</li>\n  {{/each}}\n</ul>\n",
  "{{#each words}}{{.}}, {{/each}}",
  "{{#each words}}<b>{{ . }}</b>{{/each}}",
  "{{#each none}}<p>{{title}}</p>{{/each}}{{^none}}<p>Nothing</p>{{/none}}",
  "{{#each unknown}}x{{/each}}none",
  "{{#each items}}<p>{{title}} for {{../name}} at {{../company.name}}</p>{{/each}}",
  "{{#each items}}{{title}}: {{#each tags}}{{.}} for {{../../../../name}}; {{/each}}{{/each}}",
  "{{#each items}}{{#price}}{{.}}{{/price}}{{^price}}free{{/price}} {{/each}}",
  "{{#each items}}{{#maker}}{{name}}, {{country}}{{/maker}}{{/each}}",
  "{{#each company.offices}}{{city}}{{/each}}",
  "{{! nothing }}<p>Hi</p>",
  "<p>\n{{! a note }}\nHi\n</p>",
  "{{#name}}<p>Hi {{.}}</p>{{/name}}",
  "{{#company}}\n<p>{{name}}</p>\n{{/company}}\n<p>End</p>",
  "  {{#yes}}  \n<p>Paid</p>\n  {{/yes}}  \n",
  "{{#yes}}{{../company.name}}{{/yes}} {{^no}}{{total}} {{../count}}{{/no}}",
  "{{#yes}}a{{/yes}} {{#no}}b{{/no}} {{^yes}}c{{/yes}} {{^no}}d{{/no}}",
  "<p>{{items.length}} things</p>",
  "{{#each words}}\n{{.}}\n{{/each}}",
  "<p>50 % off {% for you %} & all</p>",
  "<table>\n{{#each items}}\n<tr>\n{{#maker}}\n<td>{{name}}</td>\n{{/maker}}\n{{^maker}}\n<td>-</td>\n{{/maker}}\n</tr>\n{{/each}}\n</table>",
  "{{#company}}{{#each offices}}{{city}} of {{../name}}{{/each}}{{/company}}",
  `<!DOCTYPE html>
<html>
  <body>
    <h1>Welcome, {{name}}!</h1>
    {{#company}}
    <p>{{name}}</p>
    {{#address}}
      <p>{{city}} {{zip}}</p>
    {{/address}}
    {{/company}}
    {{#each items}}
    <p>{{title}}</p>
    {{/each}}
    {{^none}}
    <p>That is all & good bye</p>
    {{/none}}
  </body>
</html>
`,
]
