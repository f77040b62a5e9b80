import { useQueryClient } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import * as Api from "../api/Api.ts"
import type { ListedTemplate, TemplateRecord } from "../api/Records.ts"
import { Checkbox, SelectField, TextField, useForm } from "../ui/controls/Field.tsx"
import { KINDS } from "./TemplateColumns.tsx"
import { focusEditor } from "./editor/focusEditor.ts"
import { STARTERS } from "./starters.ts"
import * as TemplateQueries from "./content/TemplateQueries.ts"
import { DialogForm } from "../ui/feedback/Dialog.tsx"

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
  const [hasAlias, setHasAlias] = useState(false)
  const form = useForm({
    initial: { name: "", alias: "", kind: "template" as ListedTemplate["kind"], hasExample: true },
    send: ({ alias, hasExample, kind, name }) =>
      Api.post<TemplateRecord>("/templates", {
        name: name.trim(),
        kind,
        alias: alias === "" ? null : alias,
        ...(hasExample ? STARTERS[kind] : {}),
      }),
    onSent: async (record) => {
      client.setQueryData(TemplateQueries.template(record.id).queryKey, record)
      void client.invalidateQueries({ queryKey: [...TemplateQueries.ALL, "list"] })
      await navigate({ to: "/templates/$id", params: { id: record.id } })
      focusEditor()
    },
  })
  const { kind } = form.values
  const setName = (name: string) => form.set({ name, ...(!hasAlias && { alias: aliasOf(name) }) })
  return (
    <DialogForm submit="Create" form={form} onCancel={onCancel}>
      <TextField
        label="Name"
        autoFocus
        required
        placeholder="Order receipt"
        {...form.input("name")}
        onChange={(event) => setName(event.target.value)}
      />
      <TextField
        label="Alias"
        hint="Name in requests and in other templates."
        autoCapitalize="none"
        spellCheck={false}
        onInput={() => setHasAlias(true)}
        {...form.input("alias")}
      />
      <SelectField label="Kind" hint={HINTS[kind]} options={Object.entries(KINDS)} {...form.input("kind")} />
      <Checkbox
        label={EXAMPLES[kind]}
        hint="Change it as you like. Nothing is sent before you publish."
        {...form.check("hasExample")}
      />
    </DialogForm>
  )
}
