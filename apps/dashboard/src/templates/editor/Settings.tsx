import { useQuery } from "@tanstack/react-query"
import type { ListedTemplate } from "../../api/Records.ts"
import { useFormErrors } from "../../api/useFormErrors.ts"
import { SelectField, TextArea, TextField } from "../../ui/controls/Field.tsx"
import * as TemplateQueries from "../content/TemplateQueries.ts"
import type * as Form from "../content/Form.ts"
import * as Problems from "../content/Problems.ts"

interface Props {
  readonly kind: ListedTemplate["kind"]
  readonly form: Form.Form
  readonly setText: ((name: string, text: string) => void) | undefined
  /** Why it could not be saved. */
  readonly error: unknown
  readonly problems: ReadonlyArray<Problems.TextProblem>
}

/** Names of a template, and what its messages have besides words. */
export const Settings = ({ error, form, kind, problems, setText }: Props) => {
  const { data } = useQuery({ ...TemplateQueries.layouts, enabled: kind === "template" })
  const fields = {
    name: form["name"] ?? "",
    alias: form["alias"] ?? "",
    description: form["description"] ?? "",
    from: form["from"] ?? "",
    reply_to: form["reply_to"] ?? "",
    layout: form["layout"] ?? "",
  }
  const errors = useFormErrors(error, fields)
  const inputOf = (name: keyof typeof fields) => ({
    value: fields[name],
    readOnly: setText === undefined,
    onChange: (event: { readonly target: { readonly value: string } }) => setText?.(name, event.target.value),
    error: errors.field[name],
  })
  const layoutMessage = problems.find(({ path }) => path === "layout")?.message
  const layoutProblem = layoutMessage === undefined ? undefined : Problems.sentence(layoutMessage)
  const layouts = (data?.data ?? []).flatMap(({ alias, name }) => (alias === null ? [] : [{ alias, name }]))
  const isListed = fields.layout === "" || layouts.some(({ alias }) => alias === fields.layout)
  return (
    <div className="flex flex-col gap-4 p-4">
      <TextField label="Name" required {...inputOf("name")} />
      <TextField
        label="Alias"
        hint={
          kind === "template"
            ? `Its name in requests: "template": {"alias": "${fields.alias === "" ? "receipt" : fields.alias}"}`
            : "Name in other templates. Required to use it."
        }
        autoCapitalize="none"
        spellCheck={false}
        {...inputOf("alias")}
      />
      <TextArea label="Description" className="min-h-16" {...inputOf("description")} />
      {kind === "template" ? (
        <>
          <TextField
            label="From"
            placeholder="Acme <hello@acme.com>"
            hint="Sender of messages that name none."
            {...inputOf("from")}
          />
          <TextField
            label="Reply-To"
            hint="Leave empty for replies to the sender. Separate with commas."
            {...inputOf("reply_to")}
          />
          <SelectField
            label="Layout"
            hint="Stands around the HTML and the text."
            disabled={setText === undefined}
            value={fields.layout}
            onChange={(event) => setText?.("layout", event.target.value)}
            error={errors.field.layout ?? layoutProblem}
            options={[
              ["", "None"],
              ...(isListed ? [] : [[fields.layout, fields.layout] as const]),
              ...layouts.map(({ alias, name }) => [alias, `${name} (${alias})`] as const),
            ]}
          />
        </>
      ) : undefined}
    </div>
  )
}
