/** Templates as customers of SendGrid write them. */
export const SENDGRID: ReadonlyArray<string> = [
  "<p>Hi {{name}}</p>",
  "<p>Hi {{ name }} of {{company.name}}</p>",
  "<p>{{company.address.city}}, {{company.address.zip}}</p>",
  "<div>{{{note}}}</div>",
  "<div>{{& note}}</div>",
  "<p>{{unknown}}{{company.unknown}}{{company.unknown.deeper}}</p>",
  '<a href="{{url}}">{{ company.name }}</a>',
  '<td style="padding: 4px">{{total}}</td>',
  "<p>{{count}} of {{zero}} is {{yes}} and {{no}}</p>",
  "{{#if name}}<p>Hi {{name}}</p>{{/if}}",
  "{{#if unknown}}<p>Known</p>{{else}}<p>Unknown</p>{{/if}}",
  "{{#if zero}}some{{else}}none{{/if}} {{#if nothing}}some{{else}}none{{/if}} {{#if none}}some{{else}}none{{/if}}",
  "{{#if no}}a{{else if yes}}b{{else}}c{{/if}}",
  "{{#if no}}a{{else if unknown}}b{{else if zero}}c{{else}}d{{/if}}",
  "{{#unless yes}}Pay now{{/unless}}{{#unless no}}Paid{{/unless}}",
  "{{#unless none}}Nothing in it{{else}}Full{{/unless}}",
  "<ul>{{#each items}}<li>{{title}}: {{price}}</li>{{/each}}</ul>",
  "<ul>\n  {{#each items}}\n  <li>{{this.title}}</li>\n  {{/each}}\n</ul>\n",
  "{{#each words}}{{this}}, {{/each}}",
  "{{#each words}}{{@index}}={{.}}{{#unless @last}}; {{/unless}}{{/each}}",
  "{{#each words}}{{#if @first}}<b>{{this}}</b>{{else}}{{this}}{{/if}}{{/each}}",
  "{{#each none}}<p>{{title}}</p>{{else}}<p>Nothing</p>{{/each}}",
  "{{#each unknown}}x{{else}}none{{/each}}",
  "{{#each items}}<p>{{title}} for {{../name}} at {{../company.name}}</p>{{/each}}",
  "{{#each items}}{{title}}: {{#each tags}}{{this}} of {{../title}} for {{../../name}}; {{/each}}{{/each}}",
  "{{#each items}}{{@root.name}} {{#if price}}{{price}}{{else}}free{{/if}} {{/each}}",
  "{{#each prices}}<p>{{@key}}: {{this}}</p>{{/each}}",
  "{{#with company}}<p>{{name}}, {{address.city}} for {{../name}}</p>{{/with}}",
  "{{#with unknown}}a{{else}}{{name}}{{/with}}",
  '{{#equals plan "pro"}}<p>Pro</p>{{else}}<p>Free</p>{{/equals}}',
  '{{#notEquals plan "free"}}Paid{{/notEquals}} {{#equals count 3}}three{{/equals}}',
  "{{#greaterThan count 2}}many{{else}}few{{/greaterThan}} {{#lessThan total count}}less{{else}}more{{/lessThan}}",
  "{{#and name yes}}both{{else}}not both{{/and}} {{#and name no}}both{{else}}not both{{/and}}",
  "{{#or no unknown}}one{{else}}none{{/or}} {{#or no name}}one{{else}}none{{/or}}",
  "{{#greaterThan (length items) 1}}<p>{{items.length}} things</p>{{else}}<p>One thing</p>{{/greaterThan}}",
  '<p>Dear {{insert name "default=customer"}}, {{insert unknown "default=our friend"}}</p>',
  '<p>{{formatDate at "MMMM DD, YYYY h:mm:ss A"}} / {{formatDate at "ddd D MMM YY HH:mm"}}</p>',
  "<p>\n{{! a note }}\n{{!-- another {{note}} --}}\nHi\n</p>",
  "<p>  {{~name~}}  </p>{{#if yes~}}  \n tight \n  {{~/if}}",
  `<!DOCTYPE html>
<html>
  <body>
    {{#if name}}
      <h1>Hello {{name}}</h1>
    {{else}}
      <h1>Hello</h1>
    {{/if}}
    <table>
      {{#each items}}
      <tr>
        <td>{{title}}</td>
        {{#equals plan "pro"}}
        <td>never</td>
        {{/equals}}
        {{#if (greaterThan price 10)}}
        <td>{{price}}</td>
        {{else if (equals price 0)}}
        <td>free</td>
        {{else}}
        <td>cheap</td>
        {{/if}}
      </tr>
      {{/each}}
    </table>
    {{#or no (and yes name)}}
    <p>Thank you & good bye</p>
    {{/or}}
  </body>
</html>
`,
]
