// Tool calls: whole, streamed, parallel, and run by the client's own loop.
import assert from 'node:assert/strict';
import { EMAIL, NAME, TEXT, client, messages } from './common.mjs';

const parameters = { type: 'object', properties: { text: { type: 'string' }, count: { type: 'integer' } } };
const tools = [{ type: 'function', function: { name: 'save', description: 'Saves a note.', parameters } }];
const wanted = { text: TEXT, count: 1 };

for (const knobs of ['', ';ascii=1']) {
  const { message } = (await client.chat.completions.create({ model: `echo${knobs}`, messages, tools })).choices[0];
  assert.deepEqual(JSON.parse(message.tool_calls[0].function.arguments), wanted);
  const result = { role: 'tool', tool_call_id: message.tool_calls[0].id, content: `Saved for ${NAME}, ${EMAIL}` };
  const next = await client.chat.completions.create({ model: 'echo', messages: [...messages, message, result], tools });
  assert.equal(next.choices[0].message.content, result.content);

  for (const mix of ['', ';mix=1']) {
    const model = `echo;calls=2;chunk=2${mix}${knobs}`;
    const final = await client.chat.completions.stream({ model, messages, tools }).finalChatCompletion();
    const found = final.choices[0].message.tool_calls.map((call) => JSON.parse(call.function.arguments));
    assert.deepEqual(found, [wanted, wanted]);
  }
}

for (const stream of [false, true]) {
  let given;
  const save = (found) => ((given = found), `Saved for ${NAME}`);
  const runner = client.chat.completions.runTools({
    model: 'echo;chunk=3',
    messages,
    stream,
    tools: [{ type: 'function', function: { name: 'save', parse: JSON.parse, parameters, function: save } }],
  });
  assert.equal(await runner.finalContent(), `Saved for ${NAME}`);
  assert.deepEqual(given, wanted);
}
