import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { instance } from "../api/instance.ts"
import * as Mode from "../api/Mode.ts"
import * as Queries from "../api/Queries.ts"
import type { CreatedApiKey, Scope } from "../api/Records.ts"
import * as Api from "../api/Api.ts"
import { useSendExamples } from "../firstEmail/useSendExamples.ts"
import { CodeExamples } from "../ui/controls/Code.tsx"
import { CopyField } from "../ui/controls/CopyButton.tsx"
import { Dialog, DialogBody, DialogForm } from "../ui/feedback/Dialog.tsx"
import { type Preset, Presets } from "../ui/controls/Presets.tsx"
import { SelectField, TextField, useForm } from "../ui/controls/Field.tsx"

const SCOPES: ReadonlyArray<readonly [scope: Scope, description: string]> = [
  ["email:send", "Send email"],
  ["email:logs:read", "Read emails, statistics and suppressions"],
  ["domains:read", "View domains and their DNS records"],
  ["domains:write", "Add, verify and delete domains"],
  ["webhooks:manage", "Manage webhooks"],
  ["events:read", "Read the event feed of the account"],
  ["stats:read", "Read statistics only"],
  ["suppressions:read", "Read suppressions only"],
  ["suppressions:write", "Add and remove suppressions"],
  ["admin", "Full access, including API keys and members"],
]

const DAY_MS = 24 * 60 * 60 * 1000
const EXPIRIES: ReadonlyArray<readonly [days: number, label: string]> = [
  [0, "Never"],
  [7, "In 7 days"],
  [30, "In 30 days"],
  [90, "In 90 days"],
  [365, "In 1 year"],
]
const MODES = [
  ["live", "Live"],
  ["test", "Test"],
] as const

interface Props {
  readonly open: boolean
  readonly onClose: () => void
}

export const CreateApiKey = ({ onClose, open }: Props) => {
  const [created, setCreated] = useState<CreatedApiKey>()
  return (
    <Dialog
      open={open}
      onClose={onClose}
      onClosed={() => setCreated(undefined)}
      wide={created !== undefined}
      requiresClose={created !== undefined}
      title={created === undefined ? "Create API key" : "API key created"}
      description={
        created === undefined
          ? undefined
          : "Copy the key now: it is shown only once. If you lose it, revoke it and create another."
      }
    >
      {created === undefined ? (
        <KeyForm onCreated={setCreated} onCancel={onClose} />
      ) : (
        <CreatedKey created={created} onDone={onClose} />
      )}
    </Dialog>
  )
}

const PRESETS: ReadonlyArray<Preset> = [
  ["Send", ["email:send"]],
  ["Send and read", ["email:send", "email:logs:read"]],
  ["Full access", ["admin"]],
]

interface FormProps {
  readonly onCreated: (key: CreatedApiKey) => void
  readonly onCancel: () => void
}

const KeyForm = ({ onCancel, onCreated }: FormProps) => {
  const client = useQueryClient()
  const domains = useQuery(Queries.domains)
  const mode: CreatedApiKey["mode"] = Mode.isTest() ? "test" : "live"
  const scopes: ReadonlyArray<Scope> = ["email:send"]
  const form = useForm({
    initial: { name: "", scopes, mode, domain: "", allowed_ips: "", days: "0" },
    send: ({ allowed_ips, days, domain, name, ...others }) =>
      Api.post<CreatedApiKey>("/api-keys", {
        ...others,
        name: name.trim(),
        domain: domain === "" ? null : domain,
        allowed_ips: allowed_ips.split(/[\s,]+/u).filter((each) => each !== ""),
        expires_at: days === "0" ? null : new Date(Date.now() + Number(days) * DAY_MS).toISOString(),
      }),
    onSent: (key) => {
      void client.invalidateQueries({ queryKey: ["api-keys"] })
      onCreated(key)
    },
  })
  return (
    <DialogForm submit="Create API key" form={form} onCancel={onCancel}>
      <TextField label="Name" autoFocus required placeholder="Shop, production" {...form.input("name")} />
      <SelectField
        label="Mode"
        hint={
          form.values.mode === "test"
            ? "Mail of this key is checked and logged like live mail, and never leaves."
            : instance.transport === "capture"
              ? "Sandbox: mail of this key is kept here and never delivered."
              : "Mail of this key is delivered."
        }
        options={MODES}
        {...form.input("mode")}
      />
      <Presets
        label="Scopes"
        presets={PRESETS}
        groups={[
          [
            "",
            SCOPES.map(([scope, hint]) => [
              scope,
              <code key={scope} className="font-mono text-xs">
                {scope}
              </code>,
              hint,
            ]),
          ],
        ]}
        selected={form.values.scopes}
        onSelect={(values) => form.set({ scopes: values as ReadonlyArray<Scope> })}
        error={form.errorOf("scopes")}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <SelectField
          label="Domain"
          options={[["", "Any domain"], ...(domains.data?.data ?? []).map(({ name }) => [name, name] as const)]}
          {...form.input("domain")}
        />
        <SelectField label="Expires" options={EXPIRIES} {...form.input("days")} />
      </div>
      <TextField
        label="Allowed IP addresses"
        placeholder="Any"
        hint="IP addresses or networks such as 203.0.113.0/24. Separate with commas."
        {...form.input("allowed_ips")}
      />
    </DialogForm>
  )
}

const CreatedKey = ({ created, onDone }: { readonly created: CreatedApiKey; readonly onDone: () => void }) => {
  const examples = useSendExamples(created.key, created.domain ?? undefined)
  return (
    <DialogBody onDone={onDone}>
      <CopyField text={created.key} label="Copy API key" />
      {created.scopes.includes("email:send") || created.scopes.includes("admin") ? (
        <CodeExamples examples={examples} />
      ) : undefined}
    </DialogBody>
  )
}
