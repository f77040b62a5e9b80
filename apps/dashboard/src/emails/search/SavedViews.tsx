import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { Bookmark, BookmarkPlus, Check, Trash2 } from "lucide-react"
import { useState } from "react"
import * as Api from "../../api/Api.ts"
import * as Queries from "../../api/Queries.ts"
import type { SavedView } from "../../api/Records.ts"
import { Button } from "../../ui/controls/Button.tsx"
import { TextField, useForm } from "../../ui/controls/Field.tsx"
import { Menu } from "../../ui/controls/Menu.tsx"
import { Dialog, DialogForm } from "../../ui/feedback/Dialog.tsx"
import { showError, showToast } from "../../ui/feedback/Toasts.tsx"

interface Props {
  /** The text of the search box. */
  readonly search: string
  readonly onSelect: (search: string) => void
}

/** Searches that the user has named. They are stored on the server and shown on every device. */
export const SavedViews = ({ onSelect, search }: Props) => {
  const client = useQueryClient()
  const [isSaving, setSaving] = useState(false)
  const views = useQuery(Queries.savedViews).data?.data ?? []
  const current = views.find((view) => view.search === search)
  const refresh = () => client.invalidateQueries({ queryKey: Queries.savedViews.queryKey })
  const removal = useMutation({
    mutationFn: (view: SavedView) => Api.remove(`/dashboard/views/${encodeURIComponent(view.name)}`),
    onSuccess: (_, view) => {
      void refresh()
      showToast(`View “${view.name}” deleted.`, () => void Api.post("/dashboard/views", view).then(refresh, showError))
    },
    onError: showError,
  })
  return (
    <>
      <Menu
        align="start"
        trigger={
          <Button icon={<Bookmark size={14} />}>
            <span className="max-w-24 truncate sm:max-w-40">{current?.name ?? "Views"}</span>
          </Button>
        }
        items={[
          ...views.map((view) => ({
            name: view.name,
            icon: view === current ? <Check size={14} className="text-accent" /> : <span className="w-3.5" />,
            onSelect: () => onSelect(view.search),
          })),
          views.length > 0 && "separator",
          current === undefined
            ? {
                name: "Save this search…",
                icon: <BookmarkPlus size={14} />,
                disabled: search === "",
                onSelect: () => setSaving(true),
              }
            : {
                name: `Delete “${current.name}”`,
                icon: <Trash2 size={14} />,
                danger: true,
                onSelect: () => removal.mutate(current),
              },
        ]}
      />
      <Dialog
        open={isSaving}
        onClose={() => setSaving(false)}
        title="Save view"
        description="Saved views are your own: other members do not see them."
      >
        <SaveView
          search={search}
          onDone={() => {
            setSaving(false)
            void refresh()
          }}
          onCancel={() => setSaving(false)}
        />
      </Dialog>
    </>
  )
}

interface SaveProps {
  readonly search: string
  readonly onDone: () => void
  readonly onCancel: () => void
}

const SaveView = ({ onCancel, onDone, search }: SaveProps) => {
  const form = useForm({
    initial: { name: "" },
    send: ({ name }) => Api.post<SavedView>("/dashboard/views", { name: name.trim(), search }),
    onSent: (view) => {
      showToast(`View “${view.name}” saved.`)
      onDone()
    },
  })
  return (
    <DialogForm submit="Save" form={form} onCancel={onCancel}>
      <TextField
        label="Name"
        autoFocus
        required
        maxLength={60}
        placeholder="Bounced receipts"
        {...form.input("name")}
      />
    </DialogForm>
  )
}
