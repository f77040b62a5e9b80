# frozen_string_literal: true

module Waybill
  # Reads mail that came in.
  class Inbound
    LARGEST_PAGE = 100
    attr_reader :routes

    def initialize(sender)
      @sender = sender
      @routes = Routes.new(sender)
    end

    def list(query = {})
      @sender.call("GET /v1/inbound", query: query)
    end

    # Enumerates all matching mail, newest first.
    def all(query = {})
      Enumerator.new do |mails|
        Pages.each(query, LARGEST_PAGE, :after, :next_cursor) do |page_query|
          list(page_query).tap { |page| page[:data].each { |mail| mails << mail } }
        end
      end
    end

    # Returns a mail with its texts and headers.
    def get(id)
      @sender.call("GET /v1/inbound/{id}", id)
    end

    # Returns a mail as it came.
    def raw(id)
      @sender.call("GET /v1/inbound/{id}/raw", id, binary: true)
    end

    # Returns the bytes of a file.
    def attachment(id, attachment)
      @sender.call("GET /v1/inbound/{id}/attachments/{attachment}", id, attachment, binary: true)
    end

    # Like `emails.receipt`, of a received mail.
    def receipt(id, redact: nil)
      @sender.call("GET /v1/inbound/{id}/receipt", id, query: { redact: redact }, binary: true)
    end

    # Deletes a mail with its content.
    def remove(id)
      @sender.call("DELETE /v1/inbound/{id}", id)
    end

    # Lets a made-up mail come in. `raw` and the content of files are in base64.
    def test(mail, idempotency_key: nil)
      @sender.call("POST /v1/test/inbound", body: mail, idempotency_key: idempotency_key)
    end

    # Applies the routes again as if the mail had just come, and calls the webhooks.
    def replay(id, idempotency_key: nil)
      @sender.call("POST /v1/inbound/{id}/replay", id, idempotency_key: idempotency_key)
    end

    # Sends an answer, whose recipient, subject and thread follow from the mail.
    def reply(id, reply, idempotency_key: nil)
      @sender.call("POST /v1/inbound/{id}/reply", id, body: reply, idempotency_key: idempotency_key)
    end

    # Sends a received mail on as it came.
    def forward(id, to, idempotency_key: nil)
      @sender.call("POST /v1/inbound/{id}/forward", id, body: { to: to }, idempotency_key: idempotency_key)
    end
  end

  # Manages the rules for what happens to received mail.
  class Routes
    def initialize(sender)
      @sender = sender
    end

    # Returns all routes, in the order in which they are tried.
    def list
      @sender.call("GET /v1/inbound/routes")
    end

    def get(id)
      @sender.call("GET /v1/inbound/routes/{id}", id)
    end

    def create(route, idempotency_key: nil)
      @sender.call("POST /v1/inbound/routes", body: route, idempotency_key: idempotency_key)
    end

    def update(id, change)
      @sender.call("PATCH /v1/inbound/routes/{id}", id, body: change)
    end

    def remove(id)
      @sender.call("DELETE /v1/inbound/routes/{id}", id)
    end

    # Says which routes would apply to a mail, and why.
    def test(mail)
      @sender.call("POST /v1/inbound/routes/test", body: mail)
    end
  end

  # Reads conversations.
  class Threads
    def initialize(sender)
      @sender = sender
    end

    # Returns the sent and received mail of a conversation, in order.
    def get(id)
      @sender.call("GET /v1/threads/{id}", id)
    end
  end
end
