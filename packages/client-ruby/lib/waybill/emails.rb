# frozen_string_literal: true

module Waybill
  # Sends mail.
  class Emails
    def initialize(sender)
      @sender = sender
    end

    # Sends an email. One without `html`, `text` and `template` is accepted, and arrives empty.
    def send(email, idempotency_key: nil)
      @sender.call("POST /v1/email/send", body: email, idempotency_key: idempotency_key)
    end

    # Sends up to 100 emails. In `permissive` mode each is accepted or refused separately.
    def send_batch(emails, mode: "all_or_nothing", idempotency_key: nil)
      body = { emails: emails, mode: mode }
      @sender.call("POST /v1/email/send/batch", body: body, idempotency_key: idempotency_key)
    end

    # Like `logs.get`, also for a key that may only send; it sees the content of mail that it sent itself.
    def get(id, as_of: nil)
      @sender.call("GET /v1/email/{id}", id, query: { as_of: as_of })
    end

    def cancel(id, idempotency_key: nil)
      @sender.call("POST /v1/email/{id}/cancel", id, idempotency_key: idempotency_key)
    end

    def reschedule(id, scheduled_at)
      @sender.call("PATCH /v1/email/{id}", id, body: { scheduled_at: scheduled_at })
    end

    def resend(id, idempotency_key: nil)
      @sender.call("POST /v1/email/{id}/resend", id, idempotency_key: idempotency_key)
    end

    # Returns what happened to the email as JSON with a proof that anybody can check. `redact` hides fields.
    def receipt(id, redact: nil)
      @sender.call("GET /v1/email/{id}/receipt", id, query: { redact: redact }, binary: true)
    end
  end

  # Reads what happened to mail.
  class Logs
    LARGEST_PAGE = 100

    def initialize(sender)
      @sender = sender
    end

    def list(query = {})
      @sender.call("GET /v1/email/logs", query: query)
    end

    # Enumerates all matching messages, newest first; with `before`, from that message towards newer ones. Reads each
    # page only when needed. `limit` is the size of a page.
    def all(query = {})
      Enumerator.new do |emails|
        cursor = query[:before].nil? ? :after : :before
        Pages.each(query, LARGEST_PAGE, cursor, :next_cursor) do |page_query|
          page = list(page_query)
          (cursor == :before ? page[:data].reverse : page[:data]).each { |email| emails << email }
          page
        end
      end
    end

    # With `as_of`, returns the record as it was at that time.
    def get(id, as_of: nil)
      @sender.call("GET /v1/email/logs/{id}", id, query: { as_of: as_of })
    end

    # Returns the timeline: all events of the message.
    def events(id)
      @sender.call("GET /v1/email/logs/{id}/events", id)
    end
  end

  # Reads all pages of a list.
  module Pages
    def self.each(query, largest, cursor, next_cursor)
      query = { limit: largest }.merge(query)
      loop do
        page = yield query
        break if !page[:has_more] || page[next_cursor].nil?

        query = query.merge(cursor => page[next_cursor])
      end
    end
  end
  private_constant :Pages
end
