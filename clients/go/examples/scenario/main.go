// Command scenario makes the calls of clients/scenario.json for a user and prints a transcript.
//
// Usage: scenario host:port scenario.json user
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log"
	"os"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	mneme "github.com/mneme-ai/mneme/clients/go"
	agenticv1 "github.com/mneme-ai/mneme/clients/go/mneme/agentic/v1"
	gatewayv1 "github.com/mneme-ai/mneme/clients/go/mneme/gateway/v1"
	semanticv1 "github.com/mneme-ai/mneme/clients/go/mneme/semantic/v1"
)

type step struct {
	Call           string          `json:"call"`
	With           json.RawMessage `json:"with"`
	TimeoutSeconds float64         `json:"timeoutSeconds"`
	Contains       string          `json:"contains"`
}

type runner struct {
	client *mneme.Client
	user   string
	values map[string]string // of earlier responses, by the name that stands for them in the file
}

func main() {
	target, file, user := os.Args[1], os.Args[2], os.Args[3]
	text, err := os.ReadFile(file)
	if err != nil {
		log.Fatal(err)
	}
	var steps []step
	if err := json.Unmarshal(text, &steps); err != nil {
		log.Fatal(err)
	}
	client, err := mneme.NewClient(target)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	r := &runner{client: client, user: user, values: map[string]string{"$user": user}}
	for _, step := range steps {
		r.run(step)
	}
}

func (r *runner) run(s step) {
	timeout := 30 * time.Second
	if s.TimeoutSeconds > 0 {
		timeout = time.Duration(s.TimeoutSeconds * float64(time.Second))
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	lines, err := r.call(ctx, s)
	if failure := (*mneme.Error)(nil); errors.As(err, &failure) {
		lines = []string{describe(failure)}
	} else if err != nil {
		log.Fatal(err)
	}
	for _, line := range lines {
		fmt.Printf("%s: %s\n", s.Call, line)
	}
}

func (r *runner) call(ctx context.Context, s step) ([]string, error) {
	switch s.Call {
	case "remember":
		response, err := r.client.Memory.Remember(ctx, filled(r, s, &gatewayv1.RememberRequest{}))
		return one(r.remembered(response)), err
	case "rememberBatch":
		response, err := r.client.Memory.RememberBatch(ctx, filled(r, s, &gatewayv1.RememberBatchRequest{}))
		lines := []string{}
		for _, result := range response.GetResults() {
			if result.GetError() != nil {
				lines = append(lines, describe(mneme.ItemError(result.GetError())))
			} else {
				lines = append(lines, r.remembered(result.GetResponse()))
			}
		}
		return lines, err
	case "waitUntilVisible":
		return one("visible"), r.client.WaitUntilVisible(ctx, r.user, r.values["$token"])
	case "recall":
		response, err := r.client.Memory.Recall(ctx, filled(r, s, &gatewayv1.RecallRequest{}))
		return r.recalled(response), err
	case "recallStream":
		return r.recallStream(ctx, s)
	case "buildContext":
		request := filled(r, s, &gatewayv1.BuildContextRequest{})
		response, err := r.client.Memory.BuildContext(ctx, request)
		isWithin := response.GetTokenCount() > 0 && response.GetTokenCount() <= request.GetTokenBudget()
		return one(fmt.Sprintf("within budget %t, contains %s %t", isWithin, s.Contains, strings.Contains(response.GetText(), s.Contains))), err
	case "listInteractions":
		request, items := filled(r, s, &gatewayv1.ListInteractionsRequest{}), (*gatewayv1.ListInteractionsResponse).GetInteractions
		return collect(mneme.Pages(ctx, r.client.Conversations.ListInteractions, request, items), func(found *gatewayv1.Interaction) string {
			role := strings.TrimPrefix(found.GetTurn().GetRole().String(), "MESSAGE_ROLE_")
			return fmt.Sprintf("%d %s %s", found.GetPosition(), role, found.GetTurn().GetContent())
		})
	case "listConversations":
		request, items := filled(r, s, &gatewayv1.ListConversationsRequest{}), (*gatewayv1.ListConversationsResponse).GetConversations
		return collect(mneme.Pages(ctx, r.client.Conversations.ListConversations, request, items), func(found *gatewayv1.Conversation) string {
			return fmt.Sprintf("%s %d", found.GetConversationId(), found.GetInteractionCount())
		})
	case "createFact":
		response, err := r.client.Facts.CreateFact(ctx, filled(r, s, &semanticv1.CreateFactRequest{}))
		r.values["$factId"], r.values["$etag"] = response.GetFact().GetFactId(), response.GetFact().GetEtag()
		return one(fact(response.GetFact())), err
	case "updateFact":
		response, err := r.client.Facts.UpdateFact(ctx, filled(r, s, &semanticv1.UpdateFactRequest{}))
		return one(fact(response.GetFact())), err
	case "getFact":
		response, err := r.client.Facts.GetFact(ctx, filled(r, s, &semanticv1.GetFactRequest{}))
		return one(fact(response.GetFact())), err
	case "listFacts":
		request, items := filled(r, s, &semanticv1.ListFactsRequest{}), (*semanticv1.ListFactsResponse).GetFacts
		return collect(mneme.Pages(ctx, r.client.Facts.ListFacts, request, items), fact)
	case "deleteFact":
		_, err := r.client.Facts.DeleteFact(ctx, filled(r, s, &semanticv1.DeleteFactRequest{}))
		return one("done"), err
	case "createNote":
		response, err := r.client.Notes.CreateNote(ctx, filled(r, s, &agenticv1.CreateNoteRequest{}))
		return one(response.GetNote().GetContent() + " " + strings.Join(response.GetNote().GetTags(), " ")), err
	case "searchNotes":
		response, err := r.client.Notes.SearchNotes(ctx, filled(r, s, &agenticv1.SearchNotesRequest{}))
		lines := []string{}
		for _, hit := range response.GetHits() {
			lines = append(lines, hit.GetNote().GetContent())
		}
		return lines, err
	case "feedback":
		response, err := r.client.Memory.Feedback(ctx, filled(r, s, &gatewayv1.FeedbackRequest{}))
		return one(fmt.Sprintf("%d memories", response.GetMemoryCount())), err
	}
	return nil, fmt.Errorf("unknown call %q", s.Call)
}

func (r *runner) recallStream(ctx context.Context, s step) ([]string, error) {
	request := &gatewayv1.RecallStreamRequest{Recall: filled(r, s, &gatewayv1.RecallRequest{})}
	stream, err := r.client.Memory.RecallStream(ctx, request)
	if err != nil {
		return nil, err
	}
	tiers := []string{}
	for {
		part, err := stream.Recv()
		if err != nil {
			return nil, err
		}
		if response := part.GetResponse(); response != nil {
			slices.Sort(tiers)
			return append(one(strings.Join(tiers, " ")), r.recalled(response)...), nil
		}
		tiers = append(tiers, strings.TrimPrefix(part.GetTierResult().GetTier().GetTier().String(), "TIER_"))
	}
}

func (r *runner) remembered(response *gatewayv1.RememberResponse) string {
	if token := response.GetConsistencyToken(); token != "" {
		r.values["$token"] = token
	}
	return fmt.Sprintf("%d turns, replayed %t", len(response.GetInteractions()), response.GetReplayed())
}

func (r *runner) recalled(response *gatewayv1.RecallResponse) []string {
	lines := one(fmt.Sprintf("degraded %t", response.GetDegraded()))
	for _, memory := range response.GetMemories() {
		r.values["$memoryId"] = memory.GetMemoryId()
		lines = append(lines, memory.GetTurn().GetSpeaker()+": "+memory.GetTurn().GetContent())
	}
	return lines
}

// filled reads the request of a step, with the values of earlier responses.
func filled[Request proto.Message](r *runner, s step, request Request) Request {
	text := string(s.With)
	for name, value := range r.values {
		text = strings.ReplaceAll(text, name, value)
	}
	if err := protojson.Unmarshal([]byte(text), request); err != nil {
		log.Fatalf("%s: %v", s.Call, err)
	}
	return request
}

func collect[Item any](items iter.Seq2[Item, error], line func(Item) string) ([]string, error) {
	lines := []string{}
	for item, err := range items {
		if err != nil {
			return lines, err
		}
		lines = append(lines, line(item))
	}
	return lines, nil
}

func one(line string) []string { return []string{line} }

func fact(f *semanticv1.Fact) string {
	return fmt.Sprintf("%s (%s %s %s)", f.GetText(), f.GetSubject(), f.GetPredicate(), f.GetObject())
}

// describe leaves out the reason of a deadline: whether the service or the client notices it first is chance.
func describe(failure *mneme.Error) string {
	words := []string{"error", failure.CodeName()}
	if failure.CodeName() != "DEADLINE_EXCEEDED" {
		words = append(words, failure.Reason)
		for _, violation := range failure.Violations {
			words = append(words, violation.FieldPath)
		}
	}
	return strings.Join(words, " ")
}
