import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import * as Api from "../api/Api.ts"
import type { ListedTemplate, TemplateRecord } from "../api/Records.ts"
import { useFormErrors } from "../api/useFormErrors.ts"
import { Checkbox, SelectField, TextField } from "../ui/controls/Field.tsx"
import { DialogForm } from "../ui/feedback/DialogForm.tsx"
import { KINDS } from "./TemplateColumns.tsx"
import { focusEditor } from "./editor/focusEditor.ts"
import { STARTERS } from "./starters.ts"
import * as TemplateQueries from "./content/TemplateQueries.ts"

const MAX_ALIAS_CHARS = 64

/** Returns the alias that a name suggests: “Order shipped” is `order-shipped`. */
const aliasOf = (name: string): string =>
  name
    .toLowerCase()
    .normalize("NFKD")
    .replaceAll(/[^a-z0-9]+/gu, "-")
    .replaceAll(/^[^a-z]+|-+$/gu, "")
    .slice(0, MAX_ALIAS_CHARS)

const HINTS: { readonly [K in ListedTemplate["kind"]]: string } = {
  template: "Messages are made of it.",
  layout: "Stands around templates.",
  partial: "Stands in templates.",
}

const EXAMPLES: { readonly [K in ListedTemplate["kind"]]: string } = {
  template: "Begin with an example: an order receipt",
  layout: "Begin with an example: a page with a footer",
  partial: "Begin with an example: a button",
}

export const NewTemplate = ({ onCancel }: { readonly onCancel: () => void }) => {
  const client = useQueryClient()
  const navigate = useNavigate()
  const [name, setName] = useState("")
  const [typedAlias, setAlias] = useState<string>()
  const [kind, setKind] = useState<ListedTemplate["kind"]>("template")
  const [hasExample, setHasExample] = useState(true)
  const alias = typedAlias ?? aliasOf(name)
  const create = useMutation({
    mutationFn: () =>
      Api.post<TemplateRecord>("/templates", {
        name: name.trim(),
        kind,
        alias: alias === "" ? null : alias,
        ...(hasExample ? STARTERS[kind] : {}),
      }),
    onSuccess: async (record) => {
      client.setQueryData(TemplateQueries.template(record.id).queryKey, record)
      void client.invalidateQueries({ queryKey: [...TemplateQueries.ALL, "list"] })
      await navigate({ to: "/templates/$id", params: { id: record.id } })
      focusEditor()
    },
  })
  const errors = useFormErrors(create.error, { name, alias, kind })
  return (
    <DialogForm submit="Create" work={create} error={errors.form} onCancel={onCancel}>
      <TextField
        label="Name"
        autoFocus
        required
        placeholder="Order receipt"
        value={name}
        onChange={(event) => setName(event.target.value)}
        error={errors.field.name}
      />
      <TextField
        label="Alias"
        hint="Name in requests and in other templates."
        autoCapitalize="none"
        spellCheck={false}
        value={alias}
        onChange={(event) => setAlias(event.target.value)}
        error={errors.field.alias}
      />
      <SelectField
        label="Kind"
        hint={HINTS[kind]}
        value={kind}
        onChange={(event) => setKind(event.target.value as ListedTemplate["kind"])}
        error={errors.field.kind}
      >
        {Object.entries(KINDS).map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </SelectField>
      <Checkbox
        label={EXAMPLES[kind]}
        hint="Change it as you like. Nothing is sent before you publish."
        checked={hasExample}
        onChange={(event) => setHasExample(event.target.checked)}
      />
    </DialogForm>
  )
}
