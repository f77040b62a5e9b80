import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { instance } from "../api/instance.ts"
import * as Mode from "../api/Mode.ts"
import * as Queries from "../api/Queries.ts"
import type { CreatedApiKey, Scope } from "../api/Records.ts"
import * as Api from "../api/Api.ts"
import { useFormErrors } from "../api/useFormErrors.ts"
import { useSendExamples } from "../firstEmail/useSendExamples.ts"
import { Button } from "../ui/controls/Button.tsx"
import { CodeExamples } from "../ui/controls/Code.tsx"
import { CopyField } from "../ui/controls/CopyButton.tsx"
import { Dialog } from "../ui/feedback/Dialog.tsx"
import { DialogForm } from "../ui/feedback/DialogForm.tsx"
import { type Preset, Presets } from "../ui/controls/Presets.tsx"
import { Checkbox, SelectField, TextField } from "../ui/controls/Field.tsx"

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

interface Props {
  readonly open: boolean
  readonly onOpenChange: (open: boolean) => void
}

export const CreateApiKey = ({ onOpenChange, open }: Props) => {
  const [created, setCreated] = useState<CreatedApiKey>()
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
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
        <KeyForm onCreated={setCreated} onCancel={() => onOpenChange(false)} />
      ) : (
        <CreatedKey created={created} onDone={() => onOpenChange(false)} />
      )}
    </Dialog>
  )
}

const PRESETS: ReadonlyArray<Preset> = [
  ["Send", ["email:send"]],
  ["Send and read", ["email:send", "email:logs:read"]],
  ["Full access", ["admin"]],
]

const KeyForm = ({
  onCancel,
  onCreated,
}: {
  readonly onCreated: (key: CreatedApiKey) => void
  readonly onCancel: () => void
}) => {
  const client = useQueryClient()
  const domains = useQuery(Queries.domains)
  const [name, setName] = useState("")
  const [scopes, setScopes] = useState<ReadonlyArray<Scope>>(["email:send"])
  const [mode, setMode] = useState<CreatedApiKey["mode"]>(Mode.isTest() ? "test" : "live")
  const [domain, setDomain] = useState("")
  const [ips, setIps] = useState("")
  const [days, setDays] = useState(0)
  const create = useMutation({
    mutationFn: () =>
      Api.post<CreatedApiKey>("/api-keys", {
        name: name.trim(),
        scopes,
        mode,
        domain: domain === "" ? null : domain,
        allowed_ips: ips.split(/[\s,]+/u).filter((each) => each !== ""),
        expires_at: days === 0 ? null : new Date(Date.now() + days * DAY_MS).toISOString(),
      }),
    onSuccess: (key) => {
      void client.invalidateQueries({ queryKey: ["api-keys"] })
      onCreated(key)
    },
  })
  const errors = useFormErrors(create.error, { name, scopes, allowed_ips: ips })
  const toggle = (scope: Scope) =>
    setScopes(scopes.includes(scope) ? scopes.filter((each) => each !== scope) : [...scopes, scope])
  return (
    <DialogForm submit="Create API key" work={create} error={errors.form} onCancel={onCancel}>
      <TextField
        label="Name"
        autoFocus
        required
        placeholder="Shop, production"
        value={name}
        onChange={(event) => setName(event.target.value)}
        error={errors.field.name}
      />
      <SelectField
        label="Mode"
        value={mode}
        hint={
          mode === "test"
            ? "Mail of this key is checked and logged like live mail, and never leaves."
            : instance.transport === "capture"
              ? "Sandbox: mail of this key is kept here and never delivered."
              : "Mail of this key is delivered."
        }
        onChange={(event) => setMode(event.target.value === "test" ? "test" : "live")}
      >
        <option value="live">Live</option>
        <option value="test">Test</option>
      </SelectField>
      <Presets
        label="Scopes"
        presets={PRESETS}
        selected={scopes}
        onSelect={(values) => setScopes(values as ReadonlyArray<Scope>)}
      >
        <div className="grid gap-2.5 sm:grid-cols-2">
          {SCOPES.map(([scope, description]) => (
            <Checkbox
              key={scope}
              label={<code className="font-mono text-xs">{scope}</code>}
              hint={description}
              checked={scopes.includes(scope)}
              onChange={() => toggle(scope)}
            />
          ))}
        </div>
      </Presets>
      {errors.field.scopes === undefined ? undefined : <p className="text-xs text-bad">{errors.field.scopes}</p>}
      <div className="grid gap-4 sm:grid-cols-2">
        <SelectField label="Domain" value={domain} onChange={(event) => setDomain(event.target.value)}>
          <option value="">Any domain</option>
          {domains.data?.data.map((each) => (
            <option key={each.id} value={each.name}>
              {each.name}
            </option>
          ))}
        </SelectField>
        <SelectField label="Expires" value={days} onChange={(event) => setDays(Number(event.target.value))}>
          {EXPIRIES.map(([count, label]) => (
            <option key={count} value={count}>
              {label}
            </option>
          ))}
        </SelectField>
      </div>
      <TextField
        label="Allowed IP addresses"
        placeholder="Any"
        hint="IP addresses or networks such as 203.0.113.0/24. Separate with commas."
        value={ips}
        onChange={(event) => setIps(event.target.value)}
        error={errors.field.allowed_ips}
      />
    </DialogForm>
  )
}

const CreatedKey = ({ created, onDone }: { readonly created: CreatedApiKey; readonly onDone: () => void }) => {
  const examples = useSendExamples(created.key, created.domain ?? undefined)
  return (
    <div className="flex min-w-0 flex-col gap-4 p-5">
      <CopyField text={created.key} label="Copy API key" />
      {created.scopes.includes("email:send") || created.scopes.includes("admin") ? (
        <CodeExamples examples={examples} />
      ) : undefined}
      <footer className="flex justify-end">
        <Button variant="primary" onClick={onDone}>
          Done
        </Button>
      </footer>
    </div>
  )
}
