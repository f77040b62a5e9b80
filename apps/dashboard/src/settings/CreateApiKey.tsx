import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import * as queries from "../api/Queries.ts"
import type { CreatedApiKey, Scope } from "../api/Records.ts"
import { post, Refused } from "../api/Api.ts"
import { sendExamples } from "../emails/sendExamples.ts"
import { Button } from "../ui/controls/Button.tsx"
import { Examples } from "../ui/display/Code.tsx"
import { CopyField } from "../ui/controls/CopyButton.tsx"
import { Dialog, DialogForm } from "../ui/feedback/Dialog.tsx"
import { Check, SelectField, TextField } from "../ui/controls/Field.tsx"

const SCOPES: ReadonlyArray<readonly [scope: Scope, meaning: string]> = [
  ["email:send", "Send mail"],
  ["email:logs:read", "Read what became of it"],
  ["domains:read", "See domains and their records"],
  ["domains:write", "Add, verify and remove domains"],
  ["webhooks:manage", "Create and delete webhooks"],
  ["admin", "Everything, keys and members included"],
]

const DAY_MS = 24 * 60 * 60 * 1000
const EXPIRIES: ReadonlyArray<readonly [days: number, name: string]> = [
  [0, "Never"],
  [7, "In 7 days"],
  [30, "In 30 days"],
  [90, "In 90 days"],
  [365, "In a year"],
]

interface Props {
  readonly open: boolean
  readonly onOpenChange: (open: boolean) => void
}

export const NewApiKey = ({ onOpenChange, open }: Props) => {
  const [created, setCreated] = useState<CreatedApiKey>()
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      onClosed={() => setCreated(undefined)}
      wide={created !== undefined}
      sticky={created !== undefined}
      title={created === undefined ? "New API Key" : "Your new key"}
      description={
        created === undefined
          ? undefined
          : "Copy it now. It is shown this once; a lost key is revoked and replaced, not recovered."
      }
    >
      {created === undefined ? (
        <Form onCreated={setCreated} onCancel={() => onOpenChange(false)} />
      ) : (
        <Shown created={created} onDone={() => onOpenChange(false)} />
      )}
    </Dialog>
  )
}

const Form = ({
  onCancel,
  onCreated,
}: {
  readonly onCreated: (key: CreatedApiKey) => void
  readonly onCancel: () => void
}) => {
  const client = useQueryClient()
  const domains = useQuery(queries.domains)
  const [name, setName] = useState("")
  const [scopes, setScopes] = useState<ReadonlyArray<Scope>>(["email:send"])
  const [domain, setDomain] = useState("")
  const [ips, setIps] = useState("")
  const [days, setDays] = useState(0)
  const create = useMutation({
    mutationFn: () =>
      post<CreatedApiKey>("/api-keys", {
        name: name.trim(),
        scopes,
        domain: domain === "" ? null : domain,
        allowed_ips: ips.split(/[\s,]+/u).filter((each) => each !== ""),
        expires_at: days === 0 ? null : new Date(Date.now() + days * DAY_MS).toISOString(),
      }),
    onSuccess: (key) => {
      void client.invalidateQueries({ queryKey: ["api-keys"] })
      onCreated(key)
    },
  })
  const refused = create.error instanceof Refused ? create.error : undefined
  const toggle = (scope: Scope) =>
    setScopes(scopes.includes(scope) ? scopes.filter((each) => each !== scope) : [...scopes, scope])
  return (
    <DialogForm
      submit="Create the key"
      busy={create.isPending}
      error={create.error}
      onCancel={onCancel}
      onSubmit={() => create.mutate()}
    >
      <TextField
        label="Name"
        autoFocus
        required
        placeholder="Shop, production"
        value={name}
        onChange={(event) => setName(event.target.value)}
        problem={refused?.of("name")}
      />
      <fieldset>
        <legend className="mb-2 text-sm font-medium">Scopes</legend>
        <div className="grid gap-2.5 sm:grid-cols-2">
          {SCOPES.map(([scope, meaning]) => (
            <Check
              key={scope}
              label={<code className="font-mono text-xs">{scope}</code>}
              hint={meaning}
              checked={scopes.includes(scope)}
              onChange={() => toggle(scope)}
            />
          ))}
        </div>
        {refused?.of("scopes") === undefined ? undefined : (
          <p className="mt-1.5 text-xs text-bad">{refused.of("scopes")}</p>
        )}
      </fieldset>
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
          {EXPIRIES.map(([count, words]) => (
            <option key={count} value={count}>
              {words}
            </option>
          ))}
        </SelectField>
      </div>
      <TextField
        label="Allowed networks"
        placeholder="Everywhere"
        hint="Addresses or networks such as 203.0.113.0/24, with commas between."
        value={ips}
        onChange={(event) => setIps(event.target.value)}
        problem={refused?.of("allowed_ips")}
      />
    </DialogForm>
  )
}

const Shown = ({ created, onDone }: { readonly created: CreatedApiKey; readonly onDone: () => void }) => (
  <div className="flex min-w-0 flex-col gap-4 p-5">
    <CopyField text={created.key} label="Copy the key" />
    {created.scopes.includes("email:send") || created.scopes.includes("admin") ? (
      <Examples examples={sendExamples(created.key, created.domain === null ? undefined : `hello@${created.domain}`)} />
    ) : undefined}
    <footer className="flex justify-end">
      <Button look="solid" onClick={onDone}>
        I have kept it
      </Button>
    </footer>
  </div>
)
