<?php

// Tests of received mail and its routes.

declare(strict_types=1);

use Waybill\Client;

return (function (): array {
    $waybill = new Client();
    return [
        'received mail' => function () use ($waybill): void {
            $file = ['filename' => 'a.bin', 'content' => base64_encode("\0\n\xc8")];
            $mail = ['from' => 'ana@example.org', 'to' => 'in@acme.test', 'subject' => 'Hello', 'text' => 'Hi'];
            $made = $waybill->inbound->test([...$mail, 'attachments' => [$file]]);
            $read = $waybill->inbound->get($made['id']);
            equal(['ana@example.org', 'Hi'], [$read['from']['address'], trim($read['text'])]);
            equal("\0\n\xc8", $waybill->inbound->attachment($made['id'], 'att_1'));
            check(str_contains($waybill->inbound->raw($made['id']), 'Subject: Hello'));
            equal($made['id'], $waybill->threads->get($made['thread_id'])['data'][0]['id']);
            equal($made['id'], json_decode($waybill->inbound->receipt($made['id']), true)['email']['id']);
            $raw = base64_encode("From: bo@example.org\r\nTo: in@acme.test\r\n\r\nHi");
            $second = $waybill->inbound->test(['raw' => $raw])['id'];
            equal($second, $waybill->inbound->list(['from' => 'bo@example.org'])['data'][0]['id']);
            equal(2, count(column($waybill->inbound->all(['limit' => 1, 'domain' => 'acme.test']), 'id')));
            check($waybill->inbound->remove($made['id'])['deleted']);
            equal(404, refused(fn () => $waybill->inbound->raw($made['id']))->status);
        },
        'answer, forward and replay' => function () use ($waybill): void {
            // Mail that is made up by a live key is not sent on.
            $creation = ['name' => 'Tests', 'mode' => 'test', 'scopes' => ['admin']];
            $waybill = new Client($waybill->request('POST /v1/api-keys', body: $creation)['key']);
            $mail = ['from' => 'ana@example.org', 'to' => 'help@acme.test', 'subject' => 'Help', 'text' => 'Hi'];
            $id = $waybill->inbound->test($mail)['id'];
            $reply = $waybill->inbound->reply($id, ['from' => 'help@acme.test', 'text' => 'Gladly.'], 'answer-1');
            equal('Re: Help', $waybill->emails->get($reply['id'])['subject']);
            $forwarded = $waybill->inbound->forward($id, ['bo@example.org']);
            equal(['bo@example.org'], $waybill->emails->get($forwarded['id'])['to']);
            equal($id, $waybill->inbound->replay($id)['id']);
        },
        'routes' => function () use ($waybill): void {
            $routes = $waybill->inbound->routes;
            $rule = ['match' => ['to' => '*@acme.test'], 'action' => ['type' => 'drop'], 'stop' => true];
            $route = $routes->create($rule);
            equal($route, $routes->get($route['id']));
            $changed = $routes->update($route['id'], ['match' => [], 'position' => 0, 'action' => ['type' => 'store']]);
            equal([null, 0, true], [$changed['match']['to'], $changed['position'], $changed['stop']]);
            equal([$route['id']], column($routes->list()['data'], 'id'));
            $trial = $routes->test(['to' => 'in@acme.test', 'from' => 'ana@example.org']);
            equal(['received', true], [$trial['status'], $trial['routes'][0]['applies']]);
            check($routes->remove($route['id'])['deleted']);
        },
    ];
})();
